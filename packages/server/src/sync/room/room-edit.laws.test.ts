import type { DocumentBody } from '@docrelay/model/body'
import { bodyFacts } from '@docrelay/model/body-facts'
import { readStoredBody } from '@docrelay/model/body-parse'
import { writeBody, writeStoredBody } from '@docrelay/model/body-write'
import { isRefusal } from '@docrelay/model/edit'
import { type EditName, editNames, runEdit } from '@docrelay/model/edits'
import type { Json } from '@docrelay/model/json'
import { serialiseHtml } from '@docrelay/model/prose/html'
import { anyTable, anyTree } from '@docrelay/model/prose/testing/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { editBody, editEnvironment } from '../../documents/edit-body.ts'
import type { Random } from '../../kernel/ids.ts'
import { dice } from '../../kernel/testing/dice.ts'
import { ProjectionCache, project, reconcile } from '../binding/binding.ts'
import { exchange, liveDocument, replica, textOf } from '../testing/live-document.ts'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { variedExamples } from '../../mcp/tools/testing/varied-examples.ts'
import { isLiveChange } from './room-edit-scope.ts'
import { patience } from '../../kernel/testing/patience.ts'

const NOW_MS = Date.UTC(2026, 6, 1)

/** Returns the same values in every run, so that generated ids can be compared too. */
function replayed(seed: number): Random {
  const roll = dice(seed)
  return { bytes: (count) => Uint8Array.from({ length: count }, () => roll(256)), integer: (from, to) => from + roll(to - from) }
}

const PROSE_PAGES = SAMPLE_DOCUMENT.richTextPages.map(({ id }) => id)

/** Returns the sample document with these prose pages. */
function bodyOf(pages: readonly string[], more: Record<string, Json> = {}): DocumentBody {
  const richTextPages = pages.map((content, i) => ({ id: PROSE_PAGES[i] ?? '', name: `Page ${i}`, order: i, content }))
  const value = {
    id: 'doc',
    name: 'Doc',
    pages: SAMPLE_DOCUMENT.pages,
    richTextPages,
    ...more,
  }
  return readStoredBody(new TextEncoder().encode(JSON.stringify(value)))
}

/** Returns the body without its list of blob references, which is rebuilt on every save. */
function value(body: DocumentBody): Json {
  const { blobReferences: _, ...rest } = JSON.parse(writeBody(body)) as Record<string, Json>
  return rest
}

interface Call {
  readonly edit: EditName
  readonly args: object
}

/** Values that tools fetch from elsewhere before they run the edit. */
const PREPARED: { readonly [edit in EditName]?: object } = {
  add_file: { stored: { hash: 'ab'.repeat(32), mimeType: 'application/pdf', sizeBytes: 5 } },
}

/** All edits of tools except undo, which needs a call before it. */
const ROWS = TOOL_ROWS.filter(({ name, examples }) => examples.length > 0 && (editNames as readonly string[]).includes(name))

const call: fc.Arbitrary<Call> = fc.constantFrom(...ROWS).chain((row) =>
  variedExamples(row).map((args): Call => {
    const edit = row.name as EditName
    return { edit, args: { ...args, ...PREPARED[edit] } }
  }),
)

const firstPage = fc.tuple(anyTree, anyTable).map(([tree, table]) => {
  const field = '<p>x <span data-field="" data-name="A">1</span></p>'
  return `<h2>A</h2><p>plain</p>${serialiseHtml([...tree, table])}<h2>B</h2>${field}`
})
const pages = fc.tuple(firstPage, anyTree.map(serialiseHtml))

describe('laws of edits, cold and live', () => {
  it('[CONC-1] [CONC-2] the same edits on a cold and on a live document give equal results, equal HTML and equal fields', {
    timeout: patience(300_000),
  }, () => {
    const seen = new Map<EditName, number>()
    let followed = 0
    fc.assert(
      fc.property(pages, fc.array(call, { minLength: 1, maxLength: 4 }), fc.nat(), (htmls, calls, seed) => {
        const fields = { fields: { A: { name: 'A', value: '1' } }, order: ['A'] }
        const start = bodyOf(htmls, { fields, references: SAMPLE_DOCUMENT.references })
        let bytes: Uint8Array = writeStoredBody(start)
        const doc = liveDocument(start)
        const cache = new ProjectionCache()
        // The room's stored body stays older than the live document, as long as the live document holds everything that was changed.
        let base = readStoredBody(bytes)
        for (const [turn, { edit, args }] of calls.entries()) {
          const cold = editBody({ bytes, facts: bodyFacts(base), edit, args, nowMs: NOW_MS, sub: 'a' }, replayed(seed + turn))
          const before = project(doc, base, cache)
          const live = runEdit(edit, before, args, editEnvironment(NOW_MS, replayed(seed + turn)))
          if (isRefusal(cold) || isRefusal(live)) {
            expect(live).toEqual(cold)
            continue
          }
          const { result, fixes, warnings } = live
          expect({ result, fixes, warnings }).toEqual({ result: cold.result, fixes: cold.fixes, warnings: cold.warnings })
          if (cold.stored !== null) bytes = cold.stored.bytes
          reconcile(doc, before, live.body, 'relay', NOW_MS, {
            moved: new Set(live.writtenBlocks),
            words: live.textChanges ?? [],
            cache,
          })
          if (live.body !== before && isLiveChange(before, live.body)) followed++
          else base = project(doc, live.body, cache)
          const stored = value(readStoredBody(bytes))
          expect(value(project(doc, base, cache))).toEqual(stored)
          expect(value(project(replica(doc), base))).toEqual(stored)
          seen.set(edit, (seen.get(edit) ?? 0) + 1)
        }
        cache[Symbol.dispose]()
      }),
      { seed: 21, numRuns: 400 },
    )
    expect(followed).toBeGreaterThan(50)
    for (const edit of ROWS.map(({ name }) => name as EditName)) expect([edit, (seen.get(edit) ?? 0) > 3]).toEqual([edit, true])
  })
})

const BLOCKS = 6
const OWN = [0, 2, 4] as const

interface Writer {
  readonly doc: Y.Doc
  /** The text that each block of the person should have, by block number. */
  readonly typed: Map<number, string>
}

/** Types or deletes a letter in a block of the person, as an editor does. */
function typeLetter({ doc, typed }: Writer, roll: (below: number) => number): void {
  const block = OWN[roll(OWN.length)] as number
  const index = doc
    .getXmlFragment('prose:p')
    .toArray()
    .findIndex((node) => node instanceof Y.XmlElement && node.getAttribute('id') === `own-${block}`)
  const before = typed.get(block) as string
  const at = roll(before.length + 1)
  const letter = 'abcdefghij'[roll(10)] as string
  const text = textOf(doc, 'p', index)
  if (before.length > 3 && roll(4) === 0) {
    text.delete(at === before.length ? at - 1 : at, 1)
    typed.set(block, before.slice(0, at === before.length ? at - 1 : at) + before.slice(at === before.length ? at : at + 1))
    return
  }
  text.insert(at, letter)
  typed.set(block, before.slice(0, at) + letter + before.slice(at))
}

/** Returns a random edit that leaves the person's blocks alone. Some of these calls are refused, as calls of real agents are. */
function agentCall(roll: (below: number) => number, turn: number): Call {
  const id = `agent-${1 + 2 * roll(3)}`
  const text = `<p>agent ${turn}</p>`
  const to = { pageId: 'p', id, content: text, format: 'html' }
  const beside = { ...to, id: roll(2) === 0 ? id : `own-${OWN[roll(3)]}`, side: roll(2) === 0 ? 'before' : 'after' }
  const calls: readonly Call[] = [
    { edit: 'set_prose', args: { ...to, content: `<p id="${id}">${'word '.repeat(roll(4))}${turn}</p>` } },
    { edit: 'insert_block', args: beside },
    { edit: 'delete_block', args: { pageId: 'p', id } },
    { edit: 'move_block', args: { pageId: 'p', id, targetId: beside.id, side: beside.side } },
    { edit: 'insert_section', args: { pageId: 'p', level: 2, title: `Section ${turn}`, body: text, format: 'html' } },
    { edit: 'rename_prose_page', args: { pageId: 'p', name: `Name ${turn}` } },
    { edit: 'set_fields', args: { fields: [{ name: 'A', value: String(turn) }] } },
  ]
  return calls[roll(calls.length)] as Call
}

/** Builds the document from which every schedule starts. */
function startOfSchedules(): { readonly body: DocumentBody; readonly live: Y.Doc } {
  const blocks = Array.from({ length: BLOCKS }, (_, i) => `<p id="${i % 2 === 0 ? 'own' : 'agent'}-${i}">text ${i}</p>`)
  const body = bodyOf([blocks.join('')])
  return { body, live: liveDocument(body) }
}

function runSchedule(seed: number, { body, live }: ReturnType<typeof startOfSchedules>): { readonly edited: number } {
  const roll = dice(seed)
  const relay = replica(live)
  const cache = new ProjectionCache()
  const person: Writer = { doc: replica(relay), typed: new Map(OWN.map((block) => [block, `text ${block}`])) }
  let [base, edited] = [body, 0]
  for (let turn = 0; turn < 8; turn++) {
    const what = roll(5)
    if (what < 2) typeLetter(person, roll)
    else if (what === 2) exchange(relay, person.doc)
    else {
      const { edit, args } = agentCall(roll, turn)
      const before = project(relay, base, cache)
      const outcome = runEdit(edit, before, args, editEnvironment(NOW_MS, replayed(seed + turn)))
      if (isRefusal(outcome)) continue
      reconcile(relay, before, outcome.body, 'relay', undefined, { moved: new Set(outcome.writtenBlocks), cache })
      if (!isLiveChange(before, outcome.body)) base = project(relay, outcome.body, cache)
      edited++
    }
  }
  exchange(relay, person.doc)
  const page = project(relay, base, cache).prose.pages[0]?.content ?? ''
  for (const [block, text] of person.typed) {
    if (!page.includes(`<p id="own-${block}">${text}</p>`))
      throw new Error(`seed ${seed}: block ${block} should be "${text}" in ${page}`)
  }
  cache[Symbol.dispose]()
  return { edited }
}

describe('people and agents on one page', () => {
  // To run all 10,000: SCHEDULES=10000 vitest run packages/server/src/sync/room/room-edit.laws.test.ts
  const schedules = Number(process.env['SCHEDULES'] ?? 1_000)

  it(`[CONC-8] in ${schedules} random schedules a person who types beside an agent loses no letter`, {
    timeout: patience(300_000),
  }, () => {
    const start = startOfSchedules()
    let edited = 0
    for (let seed = 1; seed <= schedules; seed++) edited += runSchedule(seed, start).edited
    expect(edited).toBeGreaterThan(schedules)
  })
})
