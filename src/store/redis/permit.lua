-- Hands out the slots of a pool that calls come back to, and the leave to probe it, one for the whole fleet.
--
-- Promises: no probe goes before another's time is over: of a pool that is shut one per probe interval, of one whose shut
-- has ended one, until it is told to have gone well or nothing was told against it in time. Slots lie one after another,
-- each as far from the next as its asker says the pool grants one; none lies further ahead than the horizon, and those
-- nobody asked for are not saved up. Who knows the limit is believed by those who guess. Reads and writes KEYS[1] only, and gives it a time to live.
--
-- KEYS  1 the pool's entry
-- ARGV  1 slots|probe   2 how many   3 one per so long, microseconds   4 horizon, ms   5 a probe is good after, ms
--       6 one probe per so long, ms   7 kept after the end, ms   8 1 where the asker knows 3, 0 where it guesses
-- Returns, as numbers: server microseconds; 1 where a probe is granted; when to ask again, in microseconds from now; one
-- slot per so many microseconds, as somebody knows it, or 0; and for each slot when it is, in microseconds from now.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local many, every, horizon = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]) * 1000
local kept = redis.call('HMGET', KEYS[1], 'born', 'round', 'phase', 'until', 'held_until', 'slot_at', 'probed_at',
  'probed_round', 'slot_every')
local round, phase, ends = tonumber(kept[2]) or 0, kept[3] or 'ramp', (tonumber(kept[4]) or 0) * 1000
local slot_at, probed_at, probed_round = tonumber(kept[6]) or 0, tonumber(kept[7]) or 0, tonumber(kept[8]) or -1
local known = tonumber(kept[9]) or 0
if ARGV[8] == '1' then known = every elseif known > 0 then every = known end
local shut = phase == 'shut' and ends > now

local probes, again, slots = 0, 0, {}
if ARGV[1] == 'probe' then
  local next_probe = probed_round == round and probed_at + tonumber(ARGV[6]) * 1000 or 0
  if not shut or now >= next_probe then
    probes, probed_at, probed_round = 1, now, round
  else
    again = next_probe - now
  end
elseif shut then
  again = ends - now
elseif phase == 'shut' and (probed_round ~= round or probed_at < ends) then
  probes, probed_at, probed_round, slot_at = 1, now, round, now
  slots = { 0 }
  again = tonumber(ARGV[5]) * 1000
elseif phase == 'shut' and now < probed_at + tonumber(ARGV[5]) * 1000 then
  again = probed_at + tonumber(ARGV[5]) * 1000 - now
else
  if phase == 'shut' then phase = 'ramp' end
  slot_at = math.max(slot_at, now)
  while #slots < many and slot_at <= now + horizon do
    slots[#slots + 1] = slot_at - now
    slot_at = slot_at + every
  end
  if #slots == 0 then again = math.max(slot_at - now - horizon, 0) end
end

local whole = function(number) return string.format('%.0f', number) end
if not kept[1] then
  redis.call('HSET', KEYS[1], 'born', whole(math.floor(now / 1000)), 'version', '0', 'round', '0', 'strikes', '0', 'end',
    'guessed', 'class', 'unknown', 'until', '0')
end
redis.call('HSET', KEYS[1], 'phase', phase, 'slot_at', whole(slot_at), 'probed_at', whole(probed_at), 'probed_round',
  whole(probed_round), 'slot_every', whole(known))
local held = (tonumber(kept[5]) or 0) * 1000
redis.call('PEXPIRE', KEYS[1], whole(math.max(ends - now, held - now, 0) / 1000 + tonumber(ARGV[7])))
local answer = { whole(now), whole(probes), whole(again), whole(known) }
for _, slot in ipairs(slots) do answer[#answer + 1] = whole(slot) end
return answer
