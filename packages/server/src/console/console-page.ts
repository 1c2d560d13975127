/** Facts that the page needs before sign-in, as in `config.json`. [CON-6] */
export interface ConsoleFacts {
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  /** Further parameters of the authorization request, as a query: `audience=service-relay`. */
  readonly authorizeParams: string | null
  readonly version: string
  /** The origin of presigned URLs; `null` when blobs are on the disk. */
  readonly blobOrigin: string | null
  readonly connectOrigins: readonly string[]
}

/** Where agents reach the MCP endpoint; `null` when MCP is off. */
export type McpPlace = { readonly kind: 'public' } | { readonly kind: 'local'; readonly port: number } | null

const LOOPBACK_ORIGIN = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i

/** An origin that is safe in a policy: no character ends a directive or stands for several hosts. */
const ORIGIN = /^https?:\/\/(?:\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::\d+)?$/i

/** Makes the content of `config.json` for a page that was opened under `origin`. [CON-6] */
export function consoleConfig(facts: ConsoleFacts, mcp: McpPlace, origin: string): Readonly<Record<string, unknown>> {
  const { issuer, clientId, scope, authorizeParams, version } = facts
  return {
    issuer,
    clientId,
    scope,
    authorizeParams: Object.fromEntries(new URLSearchParams(authorizeParams ?? '')),
    mcpUrl: mcpUrlOf(mcp, origin),
    version,
  }
}

/** Returns the URL of the MCP endpoint. A loopback listener is named only to a page on this machine, where its address is valid. */
function mcpUrlOf(mcp: McpPlace, origin: string): string | null {
  if (mcp?.kind === 'public') return `${origin}/mcp`
  return mcp !== null && LOOPBACK_ORIGIN.test(origin) ? `http://127.0.0.1:${mcp.port}/mcp` : null
}

/** The headers of every answer below the console's path, refusals included. [CON-5] */
export function consoleHeaders(facts: ConsoleFacts): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': policyOf(facts),
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    Vary: 'Accept-Encoding, Origin',
  }
}

function policyOf({ issuer, blobOrigin, connectOrigins }: ConsoleFacts): string {
  const origins = new Set([originOfIssuer(issuer), ...(blobOrigin === null ? [] : [blobOrigin]), ...connectOrigins])
  const named = [...origins].filter((origin) => ORIGIN.test(origin))
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    ["connect-src 'self'", ...named].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types ProseMirrorClipboard docrelay-html docrelay-svg',
  ].join('; ')
}

/** Returns the origin of an issuer. A few issuers leave `https://` out of their `iss`; one that is no address cannot be used for discovery. */
function originOfIssuer(issuer: string): string {
  const url = URL.parse(issuer)
  return url !== null && url.origin !== 'null' ? url.origin : `https://${issuer}`
}
