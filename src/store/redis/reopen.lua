-- Reopens a pool before its end: a probe went well.
--
-- Promises: a probe of an earlier round reopens nothing; whoever waits comes back paced; late reports of the round before
-- add no strike; what an operator ordered holds on. Reads and writes KEYS[1] only, and gives it a time to live.
--
-- KEYS  1 the pool's entry
-- ARGV  1 round the probe was let in under   2 kept after the end, ms   3 channel   4 tag   5 replica
--       6 readable name
-- Returns the line that was told, or "stale".
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'born', 'version', 'round', 'strikes', 'phase', 'end', 'class',
  'held_until')
local born, version = tonumber(kept[1]) or now, tonumber(kept[2]) or 0
local round, strikes = tonumber(kept[3]) or 0, tonumber(kept[4]) or 0
local phase, kind, class = kept[5] or 'ramp', kept[6] or 'guessed', kept[7] or 'unknown'
if tonumber(ARGV[1]) < round or phase == 'ramp' then return 'stale' end
round = round + 1
version = version + 1

local whole = function(number) return string.format('%.0f', number) end
redis.call('HSET', KEYS[1], 'born', whole(born), 'version', whole(version), 'round', whole(round), 'strikes',
  whole(strikes), 'phase', 'ramp', 'end', kind, 'class', class, 'until', whole(now), 'by', ARGV[5], 'name', ARGV[6])
local held = math.max((tonumber(kept[8]) or 0) - now, 0)
redis.call('PEXPIRE', KEYS[1], whole(held + tonumber(ARGV[2])))
local line = table.concat({ '1', ARGV[4], whole(born), whole(version), whole(round), whole(strikes), 'ramp', kind, class,
  '0', whole(now), ARGV[5] }, ' ')
redis.call('PUBLISH', ARGV[3], line)
return line
