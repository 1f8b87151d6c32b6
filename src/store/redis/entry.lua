-- Reads a pool's entry for the script that follows, and trusts nothing of it: somebody else may have written there.
--
-- Promises: numbers are whole and small enough to be counted on; no end is further away than the longest there is. What
-- anything else stands in counts as not there and is written anew as a whole, each for itself: what the provider said, what
-- an operator ordered (held_), and the slots of the pace all share (slot_, probed_). Whoever reads the entry does the same.
--
-- KEYS  1 the pool's entry
-- Leaves `now`, server milliseconds, and `micros`; `whole`, which writes a number; the tables `entry`, `held` and `slots`,
-- of which each field is nil where nothing is known.
local set = function(...)
  local words = {}
  for _, word in ipairs({ ... }) do words[word] = word end
  return words
end
local PHASES, ENDS = set('shut', 'ramp'), set('guessed', 'stated', 'assumed')
local CLASSES = set('request_rate', 'token_throughput', 'daily', 'concurrency', 'overload', 'spend', 'unknown')
local LONGEST, LONGEST_DAILY, AHEAD = 3600000, 93600000, 10000
local whole = function(number) return string.format('%.0f', number) end
local number = function(text, digits)
  return text and #text <= digits and string.find(text, '^%d+$') and tonumber(text) or nil
end

local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
local kept = redis.call('HMGET', KEYS[1], 'born', 'version', 'round', 'strikes', 'phase', 'end', 'class', 'until', 'last',
  'by', 'held_at', 'held_until', 'slot_at', 'probed_at', 'probed_round', 'slot_every')
local entry = {
  born = number(kept[1], 14), version = number(kept[2], 14), round = number(kept[3], 14), strikes = number(kept[4], 9),
  phase = PHASES[kept[5]], kind = ENDS[kept[6]], class = CLASSES[kept[7]], ends = number(kept[8], 14),
  last = number(kept[9], 14), by = kept[10] and #kept[10] <= 32 and string.find(kept[10], '^[%w._-]+$') and kept[10] or nil,
}
local is_entry = entry.born and entry.version and entry.round and entry.strikes and entry.phase and entry.kind
  and entry.class and entry.ends
if not is_entry or entry.ends > now + (entry.class == 'daily' and LONGEST_DAILY or LONGEST) then entry = {} end
local held = { at = number(kept[11], 14), ends = number(kept[12], 14) }
if not held.at or not held.ends or held.at > now + AHEAD or held.ends > now + LONGEST_DAILY then held = {} end
local slots = {
  at = number(kept[13], 16), probed_at = number(kept[14], 16), probed_round = number(kept[15], 14),
  every = number(kept[16], 10),
}

