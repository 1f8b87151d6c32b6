-- Hands out the slots of a pool that calls come back to, and the leave to probe it, one for the whole fleet. Follows
-- entry.lua.
--
-- Promises: no probe goes before another's time is over: of a pool that is shut one per probe interval, of one whose shut
-- has ended one, until it is told to have gone well or nothing was told against it in time. Slots lie one after another,
-- each as far from the next as its asker says the pool grants one; none lies further ahead than the horizon, and those
-- nobody asked for are not saved up. Who knows the limit is believed by those who guess. Nobody is made to wait by a slot
-- further ahead than the horizon and one interval, or by a probe that has not gone yet, whoever wrote that there. Reads and
-- writes KEYS[1] only, and gives it a time to live.
--
-- KEYS  1 the pool's entry
-- ARGV  1 slots|probe   2 how many   3 one per so long, microseconds   4 horizon, ms   5 a probe is good after, ms
--       6 one probe per so long, ms   7 kept after the end, ms   8 1 where the asker knows 3, 0 where it guesses
-- Returns, as numbers: server microseconds; 1 where a probe is granted; when to ask again, in microseconds from now; one
-- slot per so many microseconds, as somebody knows it, or 0; and for each slot when it is, in microseconds from now.
local many, every, horizon = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]) * 1000
local good_after = tonumber(ARGV[5]) * 1000
local round, phase, ends = entry.round or 0, entry.phase or 'ramp', (entry.ends or 0) * 1000
local known = slots.every or 0
if ARGV[8] == '1' then known = every elseif known > 0 then every = known end
local slot_at = slots.at or 0
local probed_at, probed_round = math.min(slots.probed_at or 0, micros), slots.probed_round or -1
local shut = phase == 'shut' and ends > micros

local probes, again, given = 0, 0, {}
if ARGV[1] == 'probe' then
  local next_probe = probed_round == round and probed_at + tonumber(ARGV[6]) * 1000 or 0
  if not shut or micros >= next_probe then
    probes, probed_at, probed_round = 1, micros, round
  else
    again = next_probe - micros
  end
elseif shut then
  again = ends - micros
elseif phase == 'shut' and (probed_round ~= round or probed_at < ends) then
  probes, probed_at, probed_round, slot_at = 1, micros, round, micros
  given = { 0 }
  again = good_after
elseif phase == 'shut' and micros < probed_at + good_after then
  again = probed_at + good_after - micros
else
  phase = 'ramp'
  slot_at = math.min(math.max(slot_at, micros), micros + horizon + every)
  while #given < many and slot_at <= micros + horizon do
    given[#given + 1] = slot_at - micros
    slot_at = slot_at + every
  end
  if #given == 0 then again = math.max(slot_at - micros - horizon, 0) end
end

if not entry.born then
  redis.call('HSET', KEYS[1], 'born', whole(now), 'version', '0', 'round', '0', 'strikes', '0', 'end', 'guessed', 'class',
    'unknown', 'until', '0')
end
redis.call('HSET', KEYS[1], 'phase', phase, 'slot_at', whole(slot_at), 'probed_at', whole(probed_at), 'probed_round',
  whole(math.max(probed_round, 0)), 'slot_every', whole(known))
local runs = math.max(ends - micros, (held.ends or 0) * 1000 - micros, 0) / 1000
redis.call('PEXPIRE', KEYS[1], whole(runs + tonumber(ARGV[7])))
local answer = { whole(micros), whole(probes), whole(again), whole(known) }
for _, slot in ipairs(given) do answer[#answer + 1] = whole(slot) end
return answer
