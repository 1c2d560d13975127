import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '@docrelay/server/test/relay-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { startScriptedAgent } from './scripted-agent.ts'

const SAMPLE = join(import.meta.dirname, '../../../../examples/workspace/meeting-minutes.json')

let relay: RelayUnderTest
let token: string
let made = 0
beforeAll(async () => {
  relay = await startRelayUnderTest({ mcp: 'local', env: { RELAY_MCP_STATIC_TOKEN_SHARE: 'edit' } })
  token = readFileSync(join(relay.dataDir, 'mcp_token'), 'utf8').trim()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

interface Scene extends AsyncDisposable {
  readonly docId: string
  readonly ann: SyncClient
  /** The rows, lines and items of the page, as text. */
  lines(): readonly string[]
  /** Ends the agent. */
  stop(): Promise<void>
  /** Writes a paragraph after the first one. */
  write(text: string): void
}

/** Opens a copy of the sample as Ann, and starts the agent in it. */
async function scene(): Promise<Scene> {
  const docId = `minutes-${++made}`
  await relay.rest({ sub: 'ann' }).putDocument(docId, { ...JSON.parse(readFileSync(SAMPLE, 'utf8')), id: docId })
  const ann = relay.sync(docId, { sub: 'ann' })
  await saved(ann)
  const agent = await startScriptedAgent({ mcpUrl: relay.mcpUrl, bearer: token, docId })
  const page = ann.doc.getXmlFragment('prose:minutes')
  return {
    docId,
    ann,
    lines: () => page.toArray().map((node) => textOf(node)),
    write(text) {
      const paragraph = new Y.XmlElement('paragraph')
      ann.doc.transact(() => {
        paragraph.insert(0, [new Y.XmlText(text)])
        page.insert(2, [paragraph])
      })
    },
    stop: () => agent.close(),
    [Symbol.asyncDispose]: () => agent.close(),
  }
}

function textOf(node: unknown): string {
  if (node instanceof Y.XmlText) return String(node)
  if (!(node instanceof Y.XmlElement)) return ''
  const parts = node.toArray().map((child) => textOf(child))
  return parts.join(node.nodeName === 'tableRow' || node.nodeName === 'table' ? '|' : ' ').trim()
}

describe.concurrent('the scripted agent of a try-out', () => {
  it('[AG-74] lists the open points below the line that asks for them, and leaves the line unchanged', async () => {
    await using at = await scene()
    at.write('@agent list the open points')
    await until('the answer', () => at.lines().some((line) => line.startsWith('↳')), 30_000)
    expect(at.lines().slice(2, 5)).toEqual([
      '@agent list the open points',
      '↳ 1 point is open:',
      'Ask legal about the retention time',
    ])
  })

  it('[AG-53] adds a row to the table together with its answer', async () => {
    await using at = await scene()
    at.write('@agent add a row: Legal, Friday')
    await until('the answer', () => at.lines().includes('↳ The table has a new row.'), 30_000)
    expect(at.lines().at(-1)).toBe('Team|Start|Sales|Monday|Legal|Friday')
  })

  it('lists its abilities when it does not understand a line', async () => {
    await using at = await scene()
    at.write('@agent sing')
    await until('the answer', () => at.lines().some((line) => line.startsWith('↳')), 30_000)
    const answer = at.lines().slice(3, 5).join('\n')
    expect(answer).toContain('I know two things')
    expect(answer).toContain('@agent add a row')
  })

  it('appears to people as an agent with a name, in the blocks that it writes', async () => {
    await using at = await scene()
    const agents = () =>
      [...at.ann.awareness.getStates().values()].map(
        ({ user }) => user as { kind?: string; name?: string; page?: string } | undefined,
      )
    const seen: unknown[] = []
    at.ann.awareness.on('change', () => seen.push(...agents().filter((user) => user?.kind === 'agent')))
    at.write('@agent list the open points')
    await until('the agent in the page', () => seen.some((user) => (user as { page?: string }).page === 'minutes'), 30_000)
    expect(seen).toContainEqual(expect.objectContaining({ kind: 'agent', name: expect.stringContaining('Agent') }))
  })

  it('answers a line in the callout for visitors once, also after a restart', async () => {
    await using at = await scene()
    const callout = at.ann.doc
      .getXmlFragment('prose:minutes')
      .toArray()
      .find((node) => node instanceof Y.XmlElement && node.nodeName === 'callout') as Y.XmlElement
    const paragraph = new Y.XmlElement('paragraph')
    at.ann.doc.transact(() => {
      paragraph.insert(0, [new Y.XmlText('@agent list the open points')])
      callout.insert(1, [paragraph])
    })
    const answers = () => at.lines().join(' ').split('↳ 1 point is open:').length - 1
    await until('the answer', () => answers() > 0, 30_000)
    expect(textOf(callout)).toContain('@agent list the open points ↳ 1 point is open:')
    await at.stop()
    // At the end of the page: the agent looks at the line in the callout before it answers this one.
    const last = new Y.XmlElement('paragraph')
    at.ann.doc.transact(() => {
      last.insert(0, [new Y.XmlText('@agent add a row: Legal, Friday')])
      at.ann.doc.getXmlFragment('prose:minutes').push([last])
    })
    const again = await startScriptedAgent({ mcpUrl: relay.mcpUrl, bearer: token, docId: at.docId })
    await until('the second answer', () => at.lines().includes('↳ The table has a new row.'), 30_000)
    await again.close()
    expect(answers()).toBe(1)
  })

  it('answers a line once, also after a restart', async () => {
    await using at = await scene()
    at.write('@agent list the open points')
    await until('the answer', () => at.lines().some((line) => line.startsWith('↳')), 30_000)
    const again = await startScriptedAgent({ mcpUrl: relay.mcpUrl, bearer: token, docId: at.docId })
    at.write('@agent add a row: Legal, Friday')
    await until('the second answer', () => at.lines().includes('↳ The table has a new row.'), 30_000)
    await again.close()
    expect(at.lines().filter((line) => line.startsWith('↳ 1 point'))).toHaveLength(1)
  })

  it('ends when its document is deleted', async () => {
    await using at = await scene()
    const agent = await startScriptedAgent({ mcpUrl: relay.mcpUrl, bearer: token, docId: at.docId })
    await relay.rest({ sub: 'ann' }).deleteDocument(at.docId)
    await expect(agent.ended).resolves.toBeUndefined()
  })

  it('rejects when the relay refuses its token', async () => {
    const started = startScriptedAgent({ mcpUrl: relay.mcpUrl, bearer: 'not-the-token-of-this-relay', docId: 'any' })
    await expect(started).rejects.toThrow()
  })
})
