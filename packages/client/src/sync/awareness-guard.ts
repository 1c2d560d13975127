/** A peer's awareness state. */
type State = Readonly<Record<string, unknown>>

/**
 * Returns the state without its `cursor` when that value would make editors throw: y-prosemirror expects `cursor` to be
 * an object with the relative positions `anchor` and `head`, and writes into `user`. Everything else stays as the peer
 * sent it. [WS-65]
 */
export function guardState(state: unknown): unknown {
  if (!isObject(state) || state['cursor'] == null || isReadable(state)) return state
  const { cursor: _, ...rest } = state
  return rest
}

function isReadable({ cursor, user }: State): boolean {
  if (!isObject(cursor) || (user != null && !isObject(user))) return false
  return isPosition(cursor['anchor']) && isPosition(cursor['head'])
}

/** The JSON form of a relative position of Yjs. */
function isPosition(value: unknown): boolean {
  if (!isObject(value)) return false
  const { type, tname, item, assoc } = value
  return (
    isIdOrNone(type) &&
    isIdOrNone(item) &&
    (tname == null || typeof tname === 'string') &&
    (assoc == null || isInteger(assoc)) &&
    !(type == null && item == null && tname == null)
  )
}

function isIdOrNone(value: unknown): boolean {
  return value == null || (isObject(value) && isNatural(value['client']) && isNatural(value['clock']))
}

function isNatural(value: unknown): boolean {
  return isInteger(value) && (value as number) >= 0
}

function isInteger(value: unknown): boolean {
  return Number.isSafeInteger(value)
}

function isObject(value: unknown): value is State {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
