import { refused, type Refusal } from '../edit.ts'
import { quote } from '../quote.ts'

/** The members of arguments that take the id of a block, a shape or a page. [AG-55] */
const ID_MEMBERS: ReadonlySet<string> = new Set([
  ...[
    'id',
    'untilId',
    'targetId',
    'fromId',
    'toId',
    'afterId',
    'startShapeId',
    'endShapeId',
    'shapeId',
    'near',
    'pageId',
    'toPageId',
    'order',
  ],
])

const REFERENCE = /^\$(\d{1,3})((?:\.[A-Za-z][A-Za-z0-9]*|\[\d{1,6}\])+)$/
const PART = /\.([A-Za-z][A-Za-z0-9]*)|\[(\d+)\]/g

/** Returns the arguments with `change` applied to every id in them. Content and all other members stay as they are. */
export function withIds(args: unknown, change: (id: string) => string): unknown {
  const walk = (value: unknown, isId: boolean): unknown => {
    if (typeof value === 'string') return isId ? change(value) : value
    if (Array.isArray(value)) return value.map((item) => walk(item, isId))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(member, ID_MEMBERS.has(name))]))
  }
  return walk(args, false)
}

/** Replaces the references in a step by the values that they stand for. `results` are the results of the earlier steps. [AG-55] */
export function resolved(args: unknown, step: number, results: readonly unknown[]): { readonly args: unknown } | Refusal {
  let refusal: Refusal | null = null
  const found = withIds(args, (text) => {
    const reference = REFERENCE.exec(text)
    if (reference === null || refusal !== null) return text
    const value = valueOf(results[Number(reference[1]) - 1], reference[2] as string)
    if (typeof value === 'string') return bare(value)
    refusal = badReference(step, text, results[Number(reference[1]) - 1])
    return text
  })
  return refusal ?? { args: found }
}

function valueOf(result: unknown, path: string): unknown {
  let value = result
  for (const [, name, index] of path.matchAll(PART)) {
    const member = name ?? Number(index)
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, member)
        ? (value as Record<string, unknown>)[member]
        : undefined
  }
  return value
}

/** Removes the stamp of an id, since a block or shape from an earlier step needs none; a handle keeps its stamp. [AG-56] */
function bare(id: string): string {
  return id.startsWith('@') ? id : id.replace(/#[0-9a-z]{4}$/, '')
}

function badReference(step: number, text: string, result: unknown): Refusal {
  const members = typeof result === 'object' && result !== null ? Object.keys(result).slice(0, 20) : []
  const shown = quote(text)
  const known = members.length === 0 ? 'there is no such step before this one' : `the result has ${members.join(', ')}`
  return refused('ERR_STEP_REF', `${shown} names no text in the result of an earlier step; ${known}.`, {
    step,
    reference: shown,
    members,
  })
}
