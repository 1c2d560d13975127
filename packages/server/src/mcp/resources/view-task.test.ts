import { describe, expect, it } from 'vitest'
import { markKey, runViewTask, type ViewTask } from './view-task.ts'

const noIcons = () => null

type Text = { readonly kind: string; readonly text: string }

function bytesOf(
  prose: readonly { readonly id: string; readonly content: string; readonly name?: string }[],
  shapes: object[] = [],
) {
  const body = { name: 'D', pages: [{ id: 'c', name: 'C', shapes }], richTextPages: prose }
  return new TextEncoder().encode(JSON.stringify(body))
}

const markdown = (content: string): Text =>
  runViewTask({ kind: 'markdown', bytes: bytesOf([{ id: 'p', content }]), docId: 'doc', pageId: 'p' }, noIcons) as Text

describe('a page as Markdown', () => {
  it('[RES-2] a page as Markdown has no block ids', () =>
    expect(markdown('<p id="blk-1">one</p><h2 id="blk-2">two</h2>').text).toBe('one\n\n## two\n'))

  it('[RES-8] a page above 1 MiB is cut between blocks, with a last line that names the tool to continue with', () => {
    const paragraphs = Array.from({ length: 3_000 }, (_, i) => `<p>${i} ${'é'.repeat(250)}</p>`)
    const { text } = markdown(paragraphs.join(''))
    const lines = text.split('\n\n')
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_048_576)
    expect(Buffer.byteLength(text)).toBeGreaterThan(1_040_000)
    expect(lines.at(-1)).toMatch(/service_get_prose.*"doc".*"p".*nextCursor/)
    expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).map((_, i) => `${i} ${'é'.repeat(250)}`))
  })

  it('[RES-2] an empty page is empty, and one of exactly 1 MiB is complete', () => {
    expect(['', '<p></p>', ' '].map((content) => markdown(content).text)).toEqual(['', '', ''])
    const whole = (length: number) => markdown(`<p>a</p><p>${'x'.repeat(length)}</p>`).text
    expect(whole(1_048_572)).toHaveLength(1_048_576)
    expect(whole(1_048_573)).toMatch(/^a\n\nThe page goes on/)
  })

  it('[RES-8] a single block above the limit is replaced by the advice to use the tool', () => {
    expect(markdown(`<p>${'x'.repeat(1_100_000)}</p>`).text.trim()).toMatch(/^The page goes on: read it with service_get_prose/)
  })
})

it('[RES-8] a missing page and a page of the other kind answer not found', () => {
  const bytes = bytesOf([{ id: 'p', content: '' }])
  const facts = { id: 'doc', serverVersion: 1, source: 'relay', modifiedAt: 0, access: 'view', collectionId: null } as const
  const tasks: readonly ViewTask[] = [
    { kind: 'markdown', bytes, docId: 'doc', pageId: 'c' },
    { kind: 'svg', bytes, pageId: 'p' },
    { kind: 'outline', bytes, facts, pageId: 'c' },
  ]
  for (const task of tasks) expect(runViewTask(task, noIcons)).toEqual({ kind: 'no-page' })
})

it('[RES-10] the hash of a page stays the same while the page does not change', () => {
  const marks = (bytes: Uint8Array) => {
    const seen = runViewTask({ kind: 'marks', bytes }, noIcons)
    return seen.kind === 'marks' ? seen.marks : new Map<string, string>()
  }
  const pages = [
    { id: 'p', content: '<p>a</p>' },
    { id: 'c', content: '' },
  ]
  const before = marks(bytesOf(pages, [{ id: 's', x: 1 }]))
  const changed = (now: ReadonlyMap<string, string>) => [...before.keys()].filter((key) => before.get(key) !== now.get(key))
  expect([...before.keys()].sort()).toEqual([markKey('canvas', 'c'), markKey('prose', 'c'), markKey('prose', 'p')].sort())
  expect(changed(marks(bytesOf(pages, [{ id: 's', x: 1 }])))).toEqual([])
  expect(changed(marks(bytesOf(pages, [{ id: 's', x: 2 }])))).toEqual([markKey('canvas', 'c')])
  expect(changed(marks(bytesOf([{ id: 'p', content: '<p>b</p>' }, pages[1]!], [{ id: 's', x: 1 }])))).toEqual([
    markKey('prose', 'p'),
  ])
  expect(changed(marks(bytesOf([{ ...pages[0]!, name: 'N' }, pages[1]!], [{ id: 's', x: 1 }])))).toEqual([markKey('prose', 'p')])
})
