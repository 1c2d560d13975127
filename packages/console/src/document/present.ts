import type { LiveDocument } from '@docrelay/client'
import { colorOf } from '../session/token-claims.ts'

/** Another person or an agent in the document now. */
export interface Present {
  /** The same for all tabs of a person. */
  readonly key: string
  readonly clientId: number
  readonly name: string
  readonly color: string
  readonly agent: boolean
  /** Id of the page that they look at; `null` when they do not send one. */
  readonly page: string | null
}

type Awareness = Pick<LiveDocument['awareness'], 'getStates' | 'clientID'>

/** Returns the others in the document from their awareness states. Returns `before` itself when nothing changed. */
export function presentIn(awareness: Awareness, before: readonly Present[]): readonly Present[] {
  const found = new Map<string, Present>()
  for (const [clientId, state] of awareness.getStates()) {
    const user = (state as { readonly user?: Readonly<Record<string, unknown>> } | null)?.user
    if (clientId === awareness.clientID || typeof user !== 'object' || user === null) continue
    const present = presentOf(clientId, user)
    // The newest tab of a person comes last and replaces the earlier ones.
    if (present !== null) found.set(present.key, present)
  }
  const next = [...found.values()].sort((a, b) => a.name.localeCompare(b.name) || a.clientId - b.clientId)
  return JSON.stringify(next) === JSON.stringify(before) ? before : next
}

function presentOf(clientId: number, { id, name, color, kind, page }: Readonly<Record<string, unknown>>): Present | null {
  if (typeof name !== 'string' || name === '') return null
  const agent = kind === 'agent'
  const key = `${agent ? 'agent' : 'person'} ${typeof id === 'string' ? id : `${name} ${clientId}`}`
  return {
    key,
    clientId,
    name,
    agent,
    color: typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color) ? color : colorOf(name),
    page: typeof page === 'string' ? page : null,
  }
}
