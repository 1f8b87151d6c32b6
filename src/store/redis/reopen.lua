-- Reopens a pool before its end: a probe went well. Follows entry.lua.
--
-- Promises: a probe of an earlier round reopens nothing; whoever waits comes back paced; late reports of the round before
-- add no strike; what an operator ordered holds on. Reads and writes KEYS[1] only, and gives it a time to live.
--
-- KEYS  1 the pool's entry
-- ARGV  1 round the probe was let in under   2 kept after the end, ms   3 channel   4 tag   5 replica
--       6 readable name
-- Returns the line that was told, or "stale".
if not entry.born or entry.phase == 'ramp' or tonumber(ARGV[1]) < entry.round then return 'stale' end
local version, round = entry.version + 1, entry.round + 1

redis.call('HSET', KEYS[1], 'version', whole(version), 'round', whole(round), 'phase', 'ramp', 'until', whole(now), 'by',
  ARGV[5], 'name', ARGV[6])
redis.call('PEXPIRE', KEYS[1], whole(math.max((held.ends or 0) - now, 0) + tonumber(ARGV[2])))
local line = table.concat({ '1', ARGV[4], whole(entry.born), whole(version), whole(round), whole(entry.strikes), 'ramp',
  entry.kind, entry.class, '0', whole(now), ARGV[5] }, ' ')
redis.call('PUBLISH', ARGV[3], line)
return line
