import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { json } from 'node:stream/consumers'

export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync) ?? null
export const NEEDS_CHROMIUM = 'needs Chromium at /usr/bin/chromium'

const REPOSITORY = join(import.meta.dirname, '../../../..')
// The last three flags keep the browser from calling hosts of its vendor.
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A local origin that serves the sources of the repository as modules, for pages in a real browser. */
export interface BrowserOrigin extends AsyncDisposable {
  /** For example `http://127.0.0.1:34567`. */
  readonly origin: string
  /**
   * Runs a module in a page of the origin, and resolves with the result of its function `run(input)`. `source` may import `/packages/…` paths of
   * the repository; TypeScript is served without its types.
   */
  run(source: string, input: unknown): Promise<unknown>
}

/** Serves pages on a free port, with `headers` on the page, for example a Content-Security-Policy. */
export async function openBrowserOrigin(headers: Readonly<Record<string, string>> = {}): Promise<BrowserOrigin> {
  let page = ''
  let finished: (outcome: { readonly value?: unknown; readonly error?: string }) => void = () => undefined
  const server: Server = createServer((request, response) => {
    if (request.method === 'POST') return void take(request, response, (outcome) => finished(outcome))
    const path = new URL(request.url ?? '/', 'http://x').pathname
    if (path === '/')
      return void response
        .writeHead(200, { 'content-type': 'text/html', ...headers })
        .end('<script type="module" src="/page"></script>')
    if (path === '/page') return module(response, page)
    const file = normalize(join(REPOSITORY, path))
    if (!path.startsWith('/packages/') || !file.startsWith(REPOSITORY) || !existsSync(file))
      return void response.writeHead(404).end()
    module(response, stripTypeScriptTypes(readFileSync(file, 'utf8')))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    async run(source, input) {
      page = `${source}\nconst told = await run(${JSON.stringify(input)}).then((value) => ({ value }), (error) => ({ error: String(error) }))
        await fetch('/done', { method: 'POST', body: JSON.stringify(told) })`
      const done = new Promise<{ readonly value?: unknown; readonly error?: string }>((resolve) => (finished = resolve))
      await using _ = startChromium(`${origin}/`)
      const { value, error } = await done
      if (error !== undefined) throw new Error(`the page failed: ${error}`)
      return value
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function take(request: IncomingMessage, response: ServerResponse, finish: (outcome: object) => void): Promise<void> {
  finish((await json(request)) as object)
  response.writeHead(204).end()
}

function module(response: ServerResponse, source: string): void {
  response.writeHead(200, { 'content-type': 'text/javascript' }).end(source)
}

/** Starts a browser with a profile of its own, so that nothing is cached. */
function startChromium(url: string): AsyncDisposable {
  const profile = mkdtempSync(join(tmpdir(), 'relay-chromium-'))
  const child = spawn(CHROMIUM ?? 'chromium', [...FLAGS, `--user-data-dir=${profile}`, '--remote-debugging-port=0', url], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  return {
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}
