import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { frontPage } from './front-page.ts'

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

it('[REST-30] GET / answers an HTML page, without a redirect and without a credential', async () => {
  const { status, text, headers } = await relay.call('GET', '/')
  expect([status, headers.get('content-type'), headers.get('location')]).toEqual([200, 'text/html; charset=utf-8', null])
  expect(text).toContain('<h1>Docrelay 0.0.0</h1>')
})

it('[REST-30] every link of the front page to this relay works', async () => {
  const { text } = await relay.call('GET', '/')
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => href as string)
  expect(links.length).toBeGreaterThanOrEqual(4)
  for (const href of links) expect((await relay.call('GET', href)).status, href).toBe(200)
})

it('[REST-30] the front page has no script, and its policy forbids loading and running anything', async () => {
  const { text, headers } = await relay.call('GET', '/')
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  expect(text).not.toMatch(/<script|<style|<link|<img|\son\w+=|javascript:/i)
})

it('[REST-30] an address configured by the operator cannot become markup of the front page', () => {
  const text = frontPage({
    version: '1',
    docsUrl: 'https://docs.example/?a="><script>alert(1)</script>&b',
    servesMcp: true,
    consolePath: null,
  })
  expect(text).not.toContain('<script')
  expect(text).toContain('href="https://docs.example/?a=&quot;&gt;&lt;script&gt;')
  expect(text).toContain('/.well-known/oauth-protected-resource/mcp')
})

it('[REST-30] [CON-8] the front page links to the console only when the console is enabled', () => {
  const facts = { version: '1', docsUrl: null, servesMcp: false }
  expect(frontPage({ ...facts, consolePath: '/write' })).toContain('<li><a href="/write/">/write/</a>: the console')
  expect(frontPage({ ...facts, consolePath: null })).not.toContain('console')
})
