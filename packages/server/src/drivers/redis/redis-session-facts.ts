import { createHash } from 'node:crypto'
import type { KeptFacts, SessionFacts, SessionHint, Subscribing } from '../../mcp/session-facts.port.ts'
import { type Redis, scriptOf } from './redis.ts'

const KEPT_MS = 24 * 3_600_000
const CLOSED_MS = 3_600_000 + 60_000
const SESSIONS_OF_OWNER = 1_000
const MOST_HINT_CHARACTERS = 1_024
/** Names of the fields of a session: its level, whether it is closed, and one field per URI with the prefix `URI`. */
const LEVEL = 'level'
const CLOSED = 'closed'
const URI = 'uri:'

/** Removes the key when its value has another type, because then another program has written it. */
const OWN_TYPE = `
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then redis.call('DEL', KEYS[1]) end`

const READ = scriptOf(`${OWN_TYPE}
local fields = redis.call('HGETALL', KEYS[1])
if redis.call('HEXISTS', KEYS[1], '${CLOSED}') == 0 then redis.call('PEXPIRE', KEYS[1], ${KEPT_MS}) end
return fields
`)

/**
 * Keeps the facts of a session. When the owner has more sessions than the limit, the one whose last change is oldest loses its
 * facts, unless it is closed. Keys: the facts of the session; the set of such keys of all sessions of the owner. [MCP-34]
 */
const REMEMBER = `
if redis.call('TYPE', KEYS[2]).ok ~= 'zset' then redis.call('DEL', KEYS[2]) end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), KEYS[1])
redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
redis.call('PEXPIRE', KEYS[2], ${KEPT_MS})
if redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[#ARGV]) then
  local oldest = redis.call('ZPOPMIN', KEYS[2])[1]
  if redis.pcall('HEXISTS', oldest, '${CLOSED}') ~= 1 then redis.call('DEL', oldest) end
end`

const SET_LEVEL = scriptOf(`${OWN_TYPE}
if redis.call('HEXISTS', KEYS[1], '${CLOSED}') == 1 then return 0 end
redis.call('HSET', KEYS[1], '${LEVEL}', ARGV[1])
${REMEMBER}
return 1
`)

const SUBSCRIBE = scriptOf(`${OWN_TYPE}
if redis.call('HEXISTS', KEYS[1], '${CLOSED}') == 1 then return 'full' end
local field = '${URI}' .. ARGV[1]
if redis.call('HEXISTS', KEYS[1], field) == 1 then return 'had' end
local count = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], '${LEVEL}')
if count >= tonumber(ARGV[2]) then return 'full' end
redis.call('HSET', KEYS[1], field, '1')
${REMEMBER}
return 'added'
`)

const UNSUBSCRIBE = scriptOf(`${OWN_TYPE}
return redis.call('HDEL', KEYS[1], '${URI}' .. ARGV[1])
`)

const CLOSE = scriptOf(`
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], '${CLOSED}', '1')
redis.call('PEXPIRE', KEYS[1], ${CLOSED_MS})
return 1
`)

/** Keeps facts of MCP sessions under `mcp:<name>`, and sends hints on a channel of that name. Tests set `sessionsOfOwner`. */
export function redisSessionFacts(redis: Redis, sessionsOfOwner = SESSIONS_OF_OWNER): SessionFacts {
  const ask = (...given: Parameters<Redis['run']>): Promise<unknown> => redis.run(...given).catch(() => null)
  return {
    async read(name) {
      const answer = await ask(READ, [keyOf(name)], [])
      return Array.isArray(answer) ? factsOf(answer.map(String)) : null
    },
    async setLogLevel(name, owner, level) {
      await ask(SET_LEVEL, [keyOf(name), ownerKeyOf(owner)], [level, sessionsOfOwner])
    },
    async subscribe(name, owner, uri, most) {
      const answer = await ask(SUBSCRIBE, [keyOf(name), ownerKeyOf(owner)], [uri, most, sessionsOfOwner])
      return answer === 'added' || answer === 'had' || answer === 'full' ? (answer satisfies Subscribing) : null
    },
    async unsubscribe(name, uri) {
      await ask(UNSUBSCRIBE, [keyOf(name)], [uri])
    },
    async close(name) {
      await ask(CLOSE, [keyOf(name)], [])
    },
    tell: (name, hint) => redis.publish(keyOf(name), JSON.stringify(hint)),
    listen: (name, listener) =>
      redis.subscribe(keyOf(name), (message) => {
        const hint = hintOf(message)
        if (hint !== null) listener(hint)
      }),
    onGap: (listener) => redis.onChange((isUp) => isUp && listener()),
  }
}

function keyOf(name: string): string {
  return `mcp:${name}`
}

/** Returns the key for the sessions of an owner. It contains a hash, since the name of an owner may have any length and characters. */
function ownerKeyOf(owner: string): string {
  return `mcp-of:${createHash('sha256').update(owner).digest('base64url')}`
}

/** Returns the facts of a session. `fields` alternates names and values. */
function factsOf(fields: readonly string[]): KeptFacts {
  const names = fields.filter((_, i) => i % 2 === 0)
  const level = fields[fields.indexOf(LEVEL) + 1]
  return {
    isClosed: names.includes(CLOSED),
    logLevel: names.includes(LEVEL) && level !== undefined ? level : null,
    subscriptions: names.filter((name) => name.startsWith(URI)).map((name) => name.slice(URI.length)),
  }
}

/** Returns the hint in a message; `null` for any other message, since other programs may write to the bus. */
function hintOf(message: string): SessionHint | null {
  if (message.length > MOST_HINT_CHARACTERS) return null
  let hint: unknown
  try {
    hint = JSON.parse(message)
  } catch {
    return null
  }
  if (typeof hint !== 'object' || hint === null || !('kind' in hint)) return null
  if (hint.kind === 'changed') return { kind: 'changed' }
  if (hint.kind === 'stream' && 'token' in hint && typeof hint.token === 'string') return { kind: 'stream', token: hint.token }
  if (hint.kind !== 'cancel' || !('requestId' in hint)) return null
  const { requestId } = hint
  return typeof requestId === 'string' || typeof requestId === 'number' ? { kind: 'cancel', requestId } : null
}
