-- Carries out an operator's order: shuts a pool for all replicas, paces it, or reopens it whoever shut it. Follows entry.lua.
--
-- Promises: the later order holds, and orders of one server never share a moment; an order is never mixed with what the
-- provider said, except that a reopening ends both and forgets the strikes; late reports of the round before add none. An
-- order that is only told again, since the store lost it, never takes the place of another. Everybody is told. Reads and
-- writes KEYS[1] only, and gives it a time to live.
--
-- KEYS  1 the pool's entry
-- ARGV  1 hold|reopen   2 for so long, ms   3 one call per so long, ms; 0: none passes   4 given at, server ms; 0: now, and
--       new   5 kept after the end, ms   6 channel   7 tag   8 who   9 why   10 readable name, or empty
-- Returns the server's milliseconds and how many were told, or "stale" and 0.
local left, given, keeps = tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5])
local born, version, round = entry.born or now, entry.version or 0, entry.round or 0
local kind, class, ends = entry.kind or 'guessed', entry.class or 'unknown', entry.ends or 0
if given > 0 then
  if held.at then return { 'stale', 0 } end
else
  given = math.max(now, (held.at or 0) + 1)
end

redis.call('HSET', KEYS[1], 'born', whole(born), 'held_at', whole(given), 'held_until', whole(now + left), 'held_every',
  ARGV[3], 'held_by', ARGV[8], 'held_why', ARGV[9])
if not entry.born then
  redis.call('HSET', KEYS[1], 'version', '0', 'round', '0', 'strikes', '0', 'phase', 'ramp', 'end', kind, 'class', class,
    'until', '0')
end
if ARGV[10] ~= '' then redis.call('HSET', KEYS[1], 'name', ARGV[10]) end
if ARGV[1] == 'reopen' then
  version, round, ends = version + 1, round + 1, now
  redis.call('HSET', KEYS[1], 'version', whole(version), 'round', whole(round), 'strikes', '0', 'phase', 'ramp', 'until',
    whole(now), 'by', ARGV[8])
  redis.call('PUBLISH', ARGV[6], table.concat({ '1', ARGV[7], whole(born), whole(version), whole(round), '0', 'ramp', kind,
    class, '0', whole(now), ARGV[8] }, ' '))
end
redis.call('PEXPIRE', KEYS[1], whole(math.max(left, ends - now, 0) + keeps))
local line = table.concat({ 'held', '1', ARGV[7], whole(given), whole(left), ARGV[3], ARGV[8], ARGV[9] }, ' ')
return { whole(now), redis.call('PUBLISH', ARGV[6], line) }
