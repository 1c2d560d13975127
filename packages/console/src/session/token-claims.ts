import type { Person } from '../app/views.ts'

/** What the page reads of a token. The relay alone decides what the token is worth. */
export interface TokenClaims {
  readonly sub: string
  readonly name: string | null
  /** Ids of the workspaces that the token names. */
  readonly workspaces: readonly string[]
}

/** Reads the payload of a JWT without verifying it; `null` for a token that is none. */
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

/** With white letters on it every one of them has a contrast of at least 4.5:1. */
const COLORS = ['#8250df', '#0550ae', '#a40e26', '#116329', '#953800', '#99286e', '#1b7c83', '#4d4dbf', '#6e5494', '#57606a']

/** Returns the person of a token, or of the ID token where the access token has no name. */
export function personOf({ sub, name }: TokenClaims, idName: string | null, workspace: string): Person {
  return { sub, name: name ?? idName ?? sub, workspace, color: colorOf(sub) }
}

/** The same colour for a person in every tab and on every device. */
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
