-- Tells the fleet of a throttle. Follows entry.lua.
--
-- Promises: one burst is one strike, whoever reports it and in whatever order; a stated end is never shortened, and a
-- guess gives way to it; no end is further away than the longest allowed; what is older than the oldest allowed changes
-- nothing; the channel is told exactly when the end moved. Reads and writes KEYS[1] only, and gives it a time to live.
--
-- KEYS  1 the pool's entry
-- ARGV  1 round the request was let in under   2 wait, ms   3 seen at, server ms, 0 for now   4 guessed|stated|assumed
--       5 limit class   6 longest wait, ms   7 oldest report, ms   8 strikes fade after, ms   9 kept after the end, ms
--       10 channel   11 tag   12 replica   13 readable name
-- Returns the line that was or would be told, or "stale".
local admitted, wait, seen = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if seen <= 0 or seen > now then seen = now end
if now - seen > tonumber(ARGV[7]) then return 'stale' end

local born, version = entry.born or now, entry.version or 0
local round, strikes = entry.round or 0, entry.strikes or 0
local phase, kind, class = entry.phase or 'ramp', entry.kind or 'guessed', entry.class or 'unknown'
local ends, last, by = entry.ends or 0, entry.last or 0, entry.by or ARGV[12]

if now - last >= tonumber(ARGV[8]) then strikes = 0 end
if admitted >= round then
  round = admitted + 1
  strikes = strikes + 1
end

local incoming_ends = seen + math.min(wait, tonumber(ARGV[6]))
local incoming_kind, incoming_class = ARGV[4], ARGV[5]
local runs = phase == 'shut' and ends > now
local wins = false
if incoming_ends > now then
  if not runs then
    wins = true
  elseif kind == 'guessed' and incoming_kind ~= 'guessed' then
    wins = true
  elseif kind ~= 'guessed' and incoming_kind == 'guessed' then
    wins = false
  elseif kind == 'assumed' and incoming_kind == 'stated' and class == incoming_class then
    wins = true
  else
    wins = incoming_ends > ends
  end
end
local same = runs and ends == incoming_ends and kind == incoming_kind and class == incoming_class
local moved = wins and not same
if moved then
  phase, ends, kind, class, by = 'shut', incoming_ends, incoming_kind, incoming_class, ARGV[12]
  version = version + 1
end

redis.call('HSET', KEYS[1], 'born', whole(born), 'version', whole(version), 'round', whole(round), 'strikes',
  whole(strikes), 'phase', phase, 'end', kind, 'class', class, 'until', whole(ends), 'last', whole(now), 'by', by, 'name',
  ARGV[13])
local left = math.max(ends - now, 0)
redis.call('PEXPIRE', KEYS[1], whole(math.max(left, (held.ends or 0) - now) + tonumber(ARGV[9])))

local line = table.concat({ '1', ARGV[11], whole(born), whole(version), whole(round), whole(strikes), phase, kind, class,
  whole(left), whole(now), by }, ' ')
if moved then redis.call('PUBLISH', ARGV[10], line) end
return line
