import type { Answer, Members } from './mcp-post.ts'

/** Tries a task once, given the refusal of the last try. Returns `null` when the page has nothing to do the task on. */
export type Attempt = (refusal: Members | null) => Promise<Answer | null>

export interface Hands {
  readonly pageId: string
  readonly random: () => number
  call(tool: string, args: Members): Promise<Answer>
  /** Returns a new word at each call. */
  word(): string
}

type Tasks = readonly (() => Attempt)[]

interface Block {
  readonly id: string
  readonly text: string
}

/** Matches a paragraph in Markdown with ids. */
const PARAGRAPH = /<!-- ([\w.:@-]+#[0-9a-z]{4}) -->\n((?:\p{Lo}|a|The )[^\n]*)(?=\n|$)/gu
const SECTION = /<!-- ([\w.:@-]+#[0-9a-z]{4}) -->\n## /g

/** Returns `careful` tasks, whose calls name what the agent has seen [AG-97], and `blind` tasks with blind, stale and destructive calls. [AG-98] */
export function agentTasks({ pageId, random, call, word }: Hands): { readonly careful: Tasks; readonly blind: Tasks } {
  const own: string[] = []
  let stalePage = ''
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)]
  async function pageWithIds(): Promise<string> {
    const { result } = await call('get_prose', { pageId, ids: true, format: 'markdown', limit: 1000 })
    const pages = result['page'] ?? (result['pages'] as readonly unknown[] | undefined)?.[0]
    return String((pages as Members | undefined)?.['content'] ?? '')
  }
  const paragraphs = (page: string): readonly Block[] =>
    [...page.matchAll(PARAGRAPH)].map(([, id = '', text = '']) => ({ id, text }))
  const anyParagraph = async () => pick(paragraphs(await pageWithIds()))

  /** Returns the block that the refusal shows, or else one from a new read. */
  async function seen(refusal: Members | null): Promise<Block | undefined> {
    const current = refusal?.['current'] as Members | undefined
    if (typeof current?.['id'] === 'string' && current['type'] === 'paragraph')
      return { id: current['id'], text: String(current['content']).replace(/<!--.*?-->\n?/g, '') }
    return anyParagraph()
  }

  const careful: Tasks = [
    () => async (refusal) => {
      const block = await seen(refusal)
      if (block === undefined) return null
      const added = word()
      const answer = await call('set_prose', { pageId, id: block.id, content: `${block.text} ${added}`, format: 'markdown' })
      if (!answer.isError) own.push(added)
      return answer
    },
    () => {
      const replace = word()
      let find = pick(own)
      return async (refusal) => {
        // Somebody removed the word, so the task takes another one.
        if (refusal?.['code'] === 'ERR_TEXT_NOT_FOUND') {
          own.splice(0, own.length, ...own.filter((each) => each !== find))
          find = pick(own)
        }
        if (find === undefined) return null
        const answer = await call('edit_text', { pageId, edits: [{ find, replace }] })
        if (!answer.isError) own[own.indexOf(find)] = replace
        return answer
      }
    },
    () => {
      const type = pick(['heading', 'paragraph'])
      return async (refusal) => {
        const block = await seen(refusal)
        if (block === undefined) return null
        return call('set_block', { pageId, id: block.id, type, ...(type === 'heading' && { level: 2 }) })
      }
    },
    () => async (refusal) => {
      const block = await seen(refusal)
      if (block === undefined) return null
      return call('insert_block', { pageId, id: block.id, content: `The ${word()} here.`, format: 'markdown' })
    },
    () => async () => {
      const page = await pageWithIds()
      const block = pick(paragraphs(page))
      if (block === undefined) return null
      const content = page.replace(`<!-- ${block.id} -->\n${block.text}`, (found) => `${found} ${word()}`)
      return call('set_prose', { pageId, content, format: 'markdown' })
    },
  ]

  const onParagraph = (write: (id: string) => Promise<Answer>) => () => async () => {
    const block = await anyParagraph()
    return block === undefined ? null : write(bare(block.id))
  }
  const onSection = (write: (id: string) => Promise<Answer>) => () => async () => {
    const id = pick([...(await pageWithIds()).matchAll(SECTION)])?.[1]
    return id === undefined ? null : write(bare(id))
  }
  const table = { pageId, tableIndex: 0 }
  const blind: Tasks = [
    onParagraph((id) => call('set_prose', { pageId, id, content: `The ${word()}.` })),
    onParagraph((id) => call('delete_block', { pageId, id })),
    onParagraph((id) => {
      const inserted = { tool: 'insert_block', arguments: { pageId, id, content: `The ${word()} here.` } }
      return call('edit_document', { steps: [inserted, { tool: 'delete_block', arguments: { pageId, id } }] })
    }),
    () => async () => {
      const page = await pageWithIds()
      const all = paragraphs(page)
      const at = Math.floor(random() * (all.length - 1))
      const [first, last] = [all[at], all[at + 1]]
      if (first === undefined || last === undefined) return null
      // The ends of a span must have the same parent. Here they must also be neighbours.
      if (!page.includes(`${first.text}\n\n<!-- ${last.id} -->`)) return null
      return call('set_prose', { pageId, id: bare(first.id), untilId: bare(last.id), content: `The ${word()}.` })
    },
    () => async () => {
      const [block, target] = [await anyParagraph(), await anyParagraph()]
      if (block === undefined || target === undefined || block.id === target.id) return null
      return call('move_block', { pageId, id: bare(block.id), targetId: bare(target.id) })
    },
    () => async () => {
      const content = stalePage
      stalePage = (await pageWithIds()).replace(/<!--.*?-->\n?/g, '')
      return content === '' ? null : call('set_prose', { pageId, content, format: 'markdown', replace: random() < 0.5 })
    },
    onSection((id) => call('delete_section', { pageId, id })),
    onSection((id) => call('restructure_outline', { pageId, op: 'move', id, toIndex: 0 })),
    // Splits the cells when they are already merged.
    () => async (refusal) => {
      if (refusal === null) return call('edit_table', { ...table, op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1 })
      const isMerged = refusal['code'] === 'ERR_MERGE_SINGLE_CELL' || refusal['code'] === 'ERR_CELL_RANGE'
      return isMerged ? call('edit_table', { ...table, op: 'splitCell', row: 0, col: 0 }) : null
    },
    () => async () => call('undo', { last: 1 }),
  ]
  return { careful, blind }
}

function bare(id: string): string {
  return id.slice(0, id.lastIndexOf('#'))
}
