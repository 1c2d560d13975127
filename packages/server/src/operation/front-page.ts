/** Facts that the front page at `/` shows. */
export interface FrontPageFacts {
  readonly version: string
  /** URL of the operator's documentation; `null` when none is configured. */
  readonly docsUrl: string | null
  /** Whether the MCP endpoint answers on this listener. */
  readonly servesMcp: boolean
  /** Path of the console; `null` when the console is switched off. */
  readonly consolePath: string | null
}

/** Content security policy of the front page: it forbids loading, running, framing and sending anything. [REST-30] */
export const FRONT_PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Makes the page at `/`: what this server is and where to go. Plain HTML that loads nothing. [REST-30] */
export function frontPage({ version, docsUrl, servesMcp, consolePath }: FrontPageFacts): string {
  const links: readonly (readonly [href: string, what: string])[] = [
    ...(consolePath === null ? [] : ([[`${consolePath}/`, 'the console: read and write documents in the browser']] as const)),
    ['/health', 'whether the process answers'],
    ['/readyz', 'whether every part works'],
    ['/version', 'versions of the server and of its protocol'],
    ['/api/v1/openapi.json', 'the REST interface as OpenAPI 3.1'],
    ...(servesMcp
      ? ([['/.well-known/oauth-protected-resource/mcp', 'where an MCP client of /mcp gets its token']] as const)
      : []),
    ...(docsUrl === null ? [] : ([[docsUrl, 'documentation']] as const)),
  ]
  const items = links.map(([href, what]) => `<li><a href="${escaped(href)}">${escaped(href)}</a>: ${what}</li>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Docrelay</title>
</head>
<body>
<h1>Docrelay ${escaped(version)}</h1>
<p>This is a document relay: the server behind editors in which people and agents work on the same documents. Editors connect over
WebSocket at <code>/ws</code>, programs over REST under <code>/api/</code>${servesMcp ? ', agents over MCP at <code>/mcp</code>' : ''}.</p>
<ul>
${items.join('\n')}
</ul>
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
