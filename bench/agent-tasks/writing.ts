import * as Y from 'yjs'
import { assert, contentOf, type Members, most, type Stage, type Task, textsOf } from './stage.ts'

const page = (content: string): Members => ({ name: 'Plan', richTextPages: [{ id: 'p', name: 'Page', content }] })
const P = { pageId: 'p' }

const RFC = `# Order queue

## Context

Orders are lost while the stock service restarts[^1].

> [!WARNING]
> Nobody notices before the evening.

## Design

| Part | Does |
| --- | --- |
| Queue | keeps orders |
| Worker | hands them to the stock |

\`\`\`ts
await queue.put(order)

queue.commit()
\`\`\`

The wait is $w = n / r$.

## Risks

- [ ] Orders twice
- [x] Orders lost

<details><summary>More</summary>Later.</details>

[^1]: Seen on Monday.`

/** Two people cannot be told from one whose text grows: what matters is that somebody types at the same time. */
function typeInto(stage: Stage, text: Y.XmlText): { readonly typed: () => string; stop(): Promise<void> } {
  let typed = ''
  const timer = setInterval(() => {
    const character = String.fromCharCode(97 + (typed.length % 26))
    text.insert(text.length, character)
    typed += character
  }, 20)
  return {
    typed: () => typed,
    async stop() {
      clearInterval(timer)
      await stage.saved()
    },
  }
}

const typo = (number: number, name: string, paragraph: number): Task => ({
  number,
  name,
  most: most(1, 0.2, 0.5),
  times: 20,
  document: page('<p id="a">The first sentense is here.</p><p id="b">The second is there. </p>'),
  async play(stage) {
    const text = textsOf(stage.person.doc, 'p')[paragraph]
    assert(text !== undefined, 'the paragraph is there')
    const typing = typeInto(stage, text)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await stage.agent.call('edit_text', { ...P, edits: [{ find: 'sentense', replace: 'sentence' }] })
    await new Promise((resolve) => setTimeout(resolve, 100))
    await typing.stop()
    const stored = contentOf(await stage.stored())
    assert(stored.includes('first sentence is'), 'the word is mended')
    assert(stored.includes(typing.typed()), 'everything typed is there')
  },
})

const SECTIONS =
  '<h2 id="h1">One</h2><p>1</p><h3 id="h11">One one</h3><p>11</p><h2 id="h2">Two</h2><p>2</p><h2 id="h3">Three</h2><p>3</p>'
const headings = (content: string): string =>
  [...content.matchAll(/<h([1-6])[^>]*>([^<]*)</g)].map(([, level, title]) => `${level} ${title}`).join(', ')

export const WRITING: readonly Task[] = [
  {
    number: 1,
    name: 'write an RFC with table, code, callout, tasks, math',
    most: most(5, 3, 7),
    document: page('<p></p>'),
    async play({ agent, stored }) {
      const written = await agent.call('set_prose', { ...P, content: RFC, brief: true })
      const said = JSON.stringify([written['warnings'], written['fixes']])
      assert(/footnote/i.test(said), `the footnote is warned of: ${said}`)
      assert(/details/i.test(said), `<details> is warned of: ${said}`)
      const read = await agent.call('get_prose', P)
      const content = String((read['page'] as Members)['content'])
      assert(content === contentOf(await stored()), 'what is read is what is stored')
      const again = await agent.call('set_prose', { ...P, content, brief: true })
      assert(again['changed'] === 0, 'what is read back changes nothing')
    },
  },
  {
    number: 2,
    name: 'rename a term in one page',
    most: most(1, 0.3, 3),
    document: page('<p id="a">Acme and <a href="/acme">Acme</a>.</p><ul><li><p id="b">Acme</p></li></ul>'),
    async play({ agent, stored }) {
      const before = contentOf(await stored())
      await agent.call('edit_text', { ...P, edits: [{ find: 'Acme', replace: 'Globex', all: true }] })
      assert(
        contentOf(await stored()) === before.replaceAll('Acme', 'Globex'),
        'each text is changed once, links and ids are kept',
      )
    },
  },
  {
    number: 2,
    name: 'rename a term in 200 pages',
    most: most(1, 0.3, 3),
    document: {
      name: 'Large',
      richTextPages: Array.from({ length: 200 }, (_, i) => ({
        id: `p${i}`,
        name: `Page ${i}`,
        content: `<h2 id="h${i}">Acme ${i}</h2><p id="t${i}">${'Some words of it. '.repeat(20)}Acme.</p>`,
      })),
    },
    async play({ agent, stored }) {
      const text = async () => JSON.stringify((await stored()).richTextPages.filter(({ id }) => id !== 'diary'))
      const before = await text()
      await agent.call('edit_text', { edits: [{ find: 'Acme', replace: 'Globex', all: true }] })
      assert((await text()) === before.replaceAll('Acme', 'Globex'), 'each text is changed once, ids are kept')
    },
  },
  {
    number: 3,
    name: 'insert a section between two with subsections',
    most: most(2, 0.4, 1.5),
    document: page(SECTIONS),
    async play({ agent, stored }) {
      const { outline } = await agent.call('get_outline', P)
      const first = (outline as readonly { readonly id: string; readonly title: string }[]).find(({ title }) => title === 'One')
      const section = { level: 2, title: 'Between', body: 'New.', afterId: first?.id, withSubsections: true }
      await agent.call('insert_section', { ...P, ...section })
      assert(
        headings(contentOf(await stored())) === '2 One, 3 One one, 2 Between, 2 Two, 2 Three',
        'no other section has another parent',
      )
    },
  },
  {
    number: 4,
    name: 'move and demote a section with subsections',
    most: most(2, 0.3, 1.5),
    document: page(SECTIONS),
    async play({ agent, stored }) {
      await agent.call('restructure_outline', { ...P, op: 'move', id: 'h1', toIndex: 2, withSubsections: true })
      await agent.call('restructure_outline', { ...P, op: 'demote', id: 'h1', withSubsections: true })
      const content = contentOf(await stored())
      assert(headings(content) === '2 Two, 2 Three, 3 One, 4 One one', `the subtree stays together: ${headings(content)}`)
      assert(
        ['h1', 'h11', 'h2', 'h3'].every((id) => content.includes(`id="${id}"`)),
        'ids are kept',
      )
    },
  },
  {
    number: 5,
    name: 'filled column, two rows, merged header',
    most: most(5, 1, 6),
    document: page(
      `<table>${['Name|Role', 'Ann|Lead', 'Ben|Dev']
        .map(
          (row) =>
            `<tr>${row
              .split('|')
              .map((cell) => `<td><p>${cell}</p></td>`)
              .join('')}</tr>`,
        )
        .join('')}</table>`,
    ),
    async play({ agent, stored }) {
      const at = { ...P, tableIndex: 0 }
      await agent.call('edit_table', { ...at, op: 'addColumn', col: 1, side: 'after', values: ['Town', 'Rome', 'Bonn'] })
      await agent.call('edit_table', { ...at, op: 'addRow', row: 2, side: 'after', values: ['Cem', 'QA', 'Oslo'] })
      await agent.call('edit_table', { ...at, op: 'addRow', row: 3, side: 'after', values: ['Dora', 'Ops', 'Pisa'] })
      await agent.call('edit_table', { ...at, op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1, brief: true })
      const content = contentOf(await stored())
      const cells = [...content.matchAll(/<p[^>]*>([^<]*)<\/p><\/t[dh]>/g)].map(([, cell]) => cell)
      for (const cell of ['Town', 'Rome', 'Bonn', 'Cem', 'QA', 'Oslo', 'Dora', 'Ops', 'Pisa'])
        assert(cells.includes(cell), `${cell} is in the table: ${cells.join()}`)
      assert(content.includes('colspan="2"'), 'the header is merged')
    },
  },
  typo(6, 'typo while a person types in the next paragraph', 1),
  typo(7, 'typo in the paragraph a person types in', 0),
  {
    number: 8,
    name: 'two agents, one paragraph',
    most: most(3, 0.6, 1.5),
    document: page('<p id="a">The plan is old.</p>'),
    async play({ agent, other, stored }) {
      const { page: read } = await agent.call('get_prose', { ...P, id: 'a', ids: true, format: 'markdown' })
      const [, id = ''] = /<!-- (\S+) -->/.exec(String((read as Members)['content'])) ?? []
      await other.call('set_prose', { ...P, id: 'a', content: 'The plan is old and long.' })
      const { code, current } = await agent.refused('set_prose', { ...P, id, content: 'The plan is new.' })
      assert(code === 'ERR_BLOCK_CHANGED', `refused as changed: ${String(code)}`)
      const now = current as { readonly id: string; readonly content: string }
      const text = now.content.replace(/<!--.*?-->\n?/g, '').replace('old', 'new')
      await agent.call('set_prose', { ...P, id: now.id, content: text })
      assert(contentOf(await stored()).includes('The plan is new and long.'), 'both changes are there')
    },
  },
  {
    number: 9,
    name: 'dry run of 5 edits',
    most: most(2, 1, 2),
    document: page('<p id="a">One</p><p id="b">Two</p>'),
    async play({ agent, stored }) {
      const before = contentOf(await stored())
      const steps = [
        { tool: 'set_prose', arguments: { ...P, id: 'a', content: 'First' } },
        { tool: 'insert_block', arguments: { ...P, id: 'a', content: 'Between' } },
        { tool: 'edit_text', arguments: { ...P, edits: [{ find: 'Two', replace: 'Second' }] } },
        { tool: 'set_block', arguments: { ...P, id: 'a', type: 'heading', level: 2 } },
        { tool: 'set_fields', arguments: { fields: [{ name: 'owner', value: 'Ann' }] } },
      ]
      const shown = await agent.call('edit_document', { steps, dryRun: true })
      assert(contentOf(await stored()) === before, 'nothing is stored by a dry run')
      const done = await agent.call('edit_document', { steps })
      assert(shown['changed'] === done['changed'], 'as much is changed as was shown')
      const words = contentOf(await stored())
        .replace(/<[^>]*>/g, ' ')
        .trim()
        .split(/\s+/)
      assert(words.join() === 'First,Between,Second', `the steps are stored: ${words.join()}`)
    },
  },
  {
    number: 10,
    name: 'lost answer, same requestId',
    most: most(2, 0.5, 1),
    document: page('<p id="a">One</p>'),
    async play({ agent, stored }) {
      const write = { ...P, id: 'a', content: 'Once more', requestId: 'lost-1' }
      await agent.call('insert_block', write)
      await agent.call('insert_block', write)
      assert(contentOf(await stored()).split('Once more').length === 2, 'it is written once')
    },
  },
]
