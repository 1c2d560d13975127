import type { Person } from '../app/views.ts'

/** The claims that the page reads from a token. Only the relay verifies the token. */
export interface TokenClaims {
  readonly sub: string
  readonly name: string | null
  /** Ids of the workspaces that the token names. */
  readonly workspaces: readonly string[]
}

/** Reads the payload of a JWT without verification; `null` when the text is no JWT. */
export function readClaims(token: string): TokenClaims | null {
  const payload = payloadOf(token)
  if (payload === null) return null
  const { sub, name, preferred_username: userName, email, wsp } = payload
  if (typeof sub !== 'string' || sub === '') return null
  const workspaces = (Array.isArray(wsp) ? wsp : []).flatMap((entry: unknown) => {
    const id = (entry as { readonly id?: unknown } | null)?.id
    return typeof id === 'string' && id !== '' ? [id] : []
  })
  const names = [name, userName, email].filter((text): text is string => typeof text === 'string' && text !== '')
  return { sub, name: names[0] ?? null, workspaces: [...new Set(workspaces)] }
}

/** White letters on each of these colours have a contrast of at least 4.5:1. */
const COLORS = ['#8250df', '#0550ae', '#a40e26', '#116329', '#953800', '#99286e', '#1b7c83', '#4d4dbf', '#6e5494', '#57606a']

/** Returns the person of a token. The name comes from the ID token when the access token has none. */
export function personOf({ sub, name }: TokenClaims, idName: string | null, workspace: string): Person {
  return { sub, name: name ?? idName ?? sub, workspace, color: colorOf(sub) }
}

/** Returns the colour of a person, the same in every tab and on every device. */
export function colorOf(id: string): string {
  let hash = 0
  for (const char of id) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return COLORS[hash % COLORS.length] ?? '#57606a'
}

function payloadOf(token: string): Readonly<Record<string, unknown>> | null {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(part), (char) => char.charCodeAt(0))
    const payload: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : null
  } catch {
    return null
  }
}
