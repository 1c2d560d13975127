import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

const ANN = { sub: 'ann', role: 'member' }
const BOB = { sub: 'bob', role: 'member' }

let relay: SharedRelay
let agent: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
  await relay.rest(BOB).putDocument('secret-plans', { ...SAMPLE_DOCUMENT, name: 'Secret plans' })
  await relay.rest(ANN).putDocument('budget-2026', { ...SAMPLE_DOCUMENT, name: 'Money' })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let documents = 0
/** Puts the sample document, and opens it as a person when it is to be live. */
async function opened(life: 'cold' | 'live') {
  const docId = `links-${++documents}`
  await relay.rest(ANN).putDocument(docId, SAMPLE_DOCUMENT)
  const person = life === 'live' ? relay.sync(docId, ANN) : undefined
  if (person !== undefined) await saved(person)
  return { docId, [Symbol.dispose]: () => person?.destroy() }
}

const content = (...links: readonly string[]) => links.map((link, i) => `[link ${i}](${link})`).join(' ')
const dead = (link: string, ...nearest: readonly string[]) => ({
  reason: `the link ${link} leads to no document, page or block that you may read; it was kept`,
  ...(nearest.length > 0 && { nearest }),
})
const insert = { pageId: 'p', id: 'blk-a' }

describe.each(['cold', 'live'] as const)('links in content for a %s document', (life) => {
  it('[AG-84] links to documents, pages, blocks and shapes that the caller may read cause no warning', async () => {
    using own = await opened(life)
    using other = await opened(life)
    const links = [own.docId, other.docId].flatMap((id) =>
      ['', '/page/p', '/page/p#blk-a', '/page/c', '/page/c#s1', '#blk-q'].map((rest) => `relay://doc/${id}${rest}`),
    )
    const answer = await agent.call('insert_block', { ...insert, docId: own.docId, content: content(...links) })
    expect(answer).not.toHaveProperty('warnings')
  })

  it('[AG-84] links to missing and to unreadable targets get the same warning, and are kept', async () => {
    using own = await opened(life)
    using other = await opened(life)
    const { docId } = own
    const unread = ['relay://doc/secret-plans', 'relay://doc/secret-plans/page/p#blk-a', 'relay://doc/qqqqqqqqqqqq']
    const [pages, blocks] = ['/page/zz', '/page/p#blk-hh'].map((rest) =>
      [docId, other.docId].map((id) => `relay://doc/${id}${rest}`),
    ) as [string[], string[]]
    const given = content(...unread, 'relay://doc/budget-2025', 'relay://doc/money', ...pages, ...blocks)
    const answer = await agent.call('insert_block', { ...insert, docId, content: given })
    const warnings = answer['warnings'] as readonly { readonly reason: string; readonly nearest?: readonly string[] }[]
    expect(warnings).toEqual(
      expect.arrayContaining([
        ...unread.map((link) => dead(link)),
        dead('relay://doc/budget-2025', 'relay://doc/budget-2026'),
        dead('relay://doc/money', 'relay://doc/budget-2026'),
      ]),
    )
    expect(warnings).toHaveLength(9)
    for (const link of pages) {
      const { nearest } = warnings.find(({ reason }) => reason.includes(link)) ?? {}
      expect(nearest?.every((near) => near.startsWith(link.replace(/zz$/, '')))).toBe(true)
    }
    for (const link of blocks) {
      const { nearest } = warnings.find(({ reason }) => reason.includes(link)) ?? {}
      expect(nearest?.[0]).toBe(link.replace(/hh$/, 'h'))
    }
    const { page } = await agent.call('get_prose', { docId, pageId: 'p' })
    for (const link of [...unread, ...pages, ...blocks]) expect(JSON.stringify(page)).toContain(`href=\\"${link}\\"`)
  })

  it('[AG-84] links are checked against the result of the call, also in a dry run, in steps and for a repeat', async () => {
    using own = await opened(life)
    const { docId } = own
    const next = `relay://doc/${docId}/page/p#blk-next`
    const step = (args: object) => ({ tool: 'insert_block', arguments: { ...insert, ...args } })
    const steps = [
      step({ content: content(next, 'relay://doc/nowhere') }),
      step({ content: '<p id="blk-next">Next</p>', format: 'html' }),
    ]
    for (const dryRun of [true, false]) {
      const answer = await agent.call('edit_document', { docId, steps, dryRun })
      expect(answer['warnings']).toEqual([{ ...dead('relay://doc/nowhere'), step: 1 }])
    }
    const once = { ...insert, docId, content: content('relay://doc/nowhere', next), requestId: docId }
    for (const replayed of [undefined, true]) {
      const answer = await agent.call('insert_block', once)
      expect([answer['replayed'], answer['warnings']]).toEqual([replayed, [dead('relay://doc/nowhere')]])
    }
    const title = { docId, pageId: 'p', level: 2, title: 'Links' }
    const whole = content('relay://doc/nowhere')
    expect((await agent.call('insert_section', { ...title, body: whole }))['warnings']).toEqual([dead('relay://doc/nowhere')])
    expect((await agent.call('add_prose_page', { docId, content: whole }))['warnings']).toEqual([dead('relay://doc/nowhere')])
    expect((await agent.call('set_prose', { docId, pageId: 'p', id: 'blk-b', content: whole }))['warnings']).toEqual([
      dead('relay://doc/nowhere'),
    ])
  })

  it('[AG-85] a relative link to a readable document or a heading is kept, and a warning names its full form', async () => {
    using own = await opened(life)
    const { docId } = own
    const fine = ['#nothing', '/docs/secret-plans', 'other/page', 'https://example.com/budget-2026', '?q=budget-2026']
    const meant = {
      '/docs/budget-2026': 'relay://doc/budget-2026',
      '#budget-2026': 'relay://doc/budget-2026',
      'budget-2026?view=1': 'relay://doc/budget-2026',
      '#head': `relay://doc/${docId}/page/p#blk-h`,
      '#new-part': `relay://doc/${docId}/page/p#blk-new`,
    }
    const links = [...fine, ...Object.keys(meant)]
    const html = links.map((link) => `<a href="${link}">link</a>`).join(' ')
    const written = `<h2 id="blk-new">New part!</h2><p>${html}</p>`
    const answer = await agent.call('insert_block', { ...insert, docId, content: written, format: 'html' })
    const reasons = Object.entries(meant).map(
      ([link, form]) => `the relative link ${link} was kept and leads to nothing in the relay; what it names is ${form}`,
    )
    expect(answer['warnings']).toHaveLength(reasons.length)
    expect(answer['warnings']).toEqual(expect.arrayContaining(reasons.map((reason) => ({ reason }))))
    const { page } = await agent.call('get_prose', { docId, pageId: 'p' })
    for (const link of links) expect(JSON.stringify(page)).toContain(`href=\\"${link}\\"`)
  })

  it('[AG-84] only the first 50 of many links are checked', async () => {
    using own = await opened(life)
    const many = Array.from({ length: 60 }, (_, i) => `relay://doc/nowhere-${i}`)
    const answer = await agent.call('insert_block', { ...insert, docId: own.docId, content: content(...many) })
    expect(answer['warnings']).toEqual(many.slice(0, 50).map((link) => dead(link)))
  })
})

it('[AG-85] a docId that is the name of readable documents is answered with their ids', async () => {
  const nearest = [{ id: 'budget-2026', name: 'Money' }]
  expect(await agent.refused('get_document', { docId: 'money' })).toMatchObject({ code: 'ERR_DOC_NOT_FOUND', nearest })
  expect(await agent.refused('insert_block', { ...insert, docId: 'Money', content: 'x' })).toMatchObject({
    code: 'ERR_DOC_NOT_FOUND',
    nearest,
  })
  for (const docId of ['Secret plans', 'no such name'])
    expect(await agent.refused('get_document', { docId })).not.toHaveProperty('nearest')
})
