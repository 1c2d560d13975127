import { assert, contentOf, type Members, most, type Task, textsOf } from './stage.ts'

const P = { pageId: 'p' }
const page = (content: string): Members => ({ name: 'Plan', richTextPages: [{ id: 'p', name: 'Page', content }] })
const pages = (count: number, content: (i: number) => string): Members => ({
  name: 'Plan',
  richTextPages: Array.from({ length: count }, (_, i) => ({ id: `p${i}`, name: `Page ${i}`, order: i, content: content(i) })),
})

interface Hit {
  readonly docId: string
  readonly pageId: string
  readonly id: string
}

export const FINDING: readonly Task[] = [
  {
    number: 11,
    name: 'find where X is decided in 200 pages, read these',
    most: most(3, 0.3, 8),
    document: pages(200, (i) => {
      const decided = [37, 150].includes(i) ? `<p id="d${i}">It is decided: quorums of three replicas.</p>` : ''
      return `<h2 id="h${i}">Meeting ${i}</h2><p>${'We talked about the weather and the budget. '.repeat(12)}</p>${decided}`
    }),
    async play({ agent, docId }) {
      const { hits } = await agent.call('search', { query: 'decided quorums', docId })
      const found = hits as readonly Hit[]
      assert(
        found
          .map(({ pageId }) => pageId)
          .toSorted()
          .join() === 'p150,p37',
        `both pages are found: ${JSON.stringify(found)}`,
      )
      for (const { pageId, id } of found) {
        const { page: read } = await agent.call('get_prose', { pageId, id })
        assert(JSON.stringify(read).includes('three replicas'), 'the block is the one that decides')
      }
    },
  },
  {
    number: 12,
    name: 'link to a document, page and heading',
    most: most(2, 0.6, 1.5),
    document: page('<p id="a">One</p>'),
    async play({ agent, put, docId, stored }) {
      const target = `${docId}-target`
      await put(target, page('<h2 id="goal">Goal</h2>'))
      const links = [`relay://doc/${target}`, `relay://doc/${target}/page/p`, `relay://doc/${target}/page/p#goal`]
      const dead = 'relay://doc/nowhere'
      const content = [...links, dead].map((link, i) => `[link ${i}](${link})`).join(' ')
      const { warnings } = await agent.call('insert_block', { ...P, id: 'a', content })
      const stands = contentOf(await stored())
      for (const link of links) assert(stands.includes(`href="${link}"`), `${link} is kept`)
      assert(JSON.stringify(warnings).includes(dead), 'the dead link is warned of')
      assert(!JSON.stringify(warnings).includes(target), 'no other link is')
    },
  },
  {
    number: 13,
    name: 'set a field and use it on three pages',
    most: most(3, 0.8, 1.5),
    document: pages(3, (i) => `<p id="b${i}">Page ${i}</p>`),
    async play({ agent, stored }) {
      await agent.call('set_fields', { fields: [{ name: 'version', value: '2.1' }] })
      const step = (i: number, name: string) => {
        const args = { pageId: `p${i}`, id: `b${i}`, content: `Version {{${name}}}` }
        return { tool: 'insert_block', arguments: args }
      }
      const steps = [step(0, 'version'), step(1, 'version'), step(2, 'version'), step(2, 'unknown')]
      const { warnings } = await agent.call('edit_document', { steps, brief: true })
      assert(JSON.stringify(warnings ?? []).includes('unknown'), 'the unknown name is warned of')
      for (const i of [0, 1, 2]) {
        const content = contentOf(await stored(), `p${i}`)
        assert(
          /data-[a-z-]*field[a-z-]*="?[^>]*version/.test(content) || />2\.1</.test(content),
          `the chip shows the value: ${content}`,
        )
      }
    },
  },
  {
    number: 14,
    name: 'reorder 10 pages, move a section to another page',
    most: most(2, 0.6, 1.5),
    document: pages(10, (i) => `<h2 id="h${i}">Head ${i}</h2><p id="t${i}">Text ${i}</p>`),
    async play({ agent, stored }) {
      const order = ['diary', ...Array.from({ length: 10 }, (_, i) => `p${9 - i}`)]
      await agent.call('reorder_prose_pages', { order })
      await agent.call('restructure_outline', { pageId: 'p3', op: 'move', id: 'h3', toPageId: 'p4', brief: true })
      const now = await stored()
      const ordered = now.richTextPages.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0)).map(({ id }) => id)
      assert(ordered.join() === order.join(), `the order is right: ${ordered.join()}`)
      assert(/id="t4".*id="h3".*id="t3"/.test(contentOf(now, 'p4')), 'the section stands on the other page with its ids')
      assert(!contentOf(now, 'p4').includes('<p></p>'), 'no empty paragraph came with it')
    },
  },
  {
    number: 15,
    name: 'undo an own mistake after a person went on typing',
    most: most(2, 0.3, 1),
    document: page('<p id="a">The first.</p><p id="b">The second.</p>'),
    async play({ agent, person, saved, stored }) {
      await agent.call('set_prose', { ...P, id: 'a', content: 'A mistake.' })
      const second = textsOf(person.doc, 'p')[1]
      second?.insert(second.length, ' And more.')
      await saved()
      await agent.call('undo', { last: 1 })
      const content = contentOf(await stored())
      assert(content.includes('The first.') && !content.includes('mistake'), `the mistake is gone: ${content}`)
      assert(content.includes('The second. And more.'), "the person's words are there")
    },
  },
  {
    number: 16,
    name: 'rename a service in text and diagram',
    most: most(1, 0.2, 3),
    document: {
      ...page('<h2 id="h">Billing</h2><p id="a">Billing calls Billing DB.</p>'),
      pages: [
        {
          id: 'c',
          name: 'Canvas',
          shapes: ['Billing', 'Billing DB', 'Other'].map((label, i) => {
            const size = { width: 160, height: 80 }
            return { id: `s${i}`, type: 'rectangle', x: 300 * i, y: 0, ...size, label }
          }),
        },
      ],
    },
    async play({ agent, stored }) {
      await agent.call('edit_text', { scope: 'all', edits: [{ find: 'Billing', replace: 'Invoicing', all: true }] })
      const now = await stored()
      assert(!JSON.stringify(now).includes('Billing'), 'no old name is left')
      assert(now.pages[0]?.shapes.map(({ label }) => label).join() === 'Invoicing,Invoicing DB,Other', 'all labels are right')
    },
  },
]
