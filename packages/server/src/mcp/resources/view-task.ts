import { createHash } from 'node:crypto'
import type { DocumentBody } from '@docrelay/model/body'
import { readStoredBody } from '@docrelay/model/body-parse'
import { isRefusal } from '@docrelay/model/edit'
import { serialiseMarkdownWithin } from '@docrelay/model/prose/markdown-write'
import type { ProseElement } from '@docrelay/model/prose/node'
import { findProsePage } from '@docrelay/model/prose/page'
import { storedBlocks } from '@docrelay/model/prose/stored-blocks'
import { readDocument, type ReadFacts } from '@docrelay/model/reads'
import type { IconPaths } from '@docrelay/model/render/icon-svg'
import { renderPage } from '@docrelay/model/render/page-svg'

/** Reads from a stored body in a task thread. Input and output are plain data. */
export type ViewTask = { readonly bytes: Uint8Array } & (
  | { readonly kind: 'document'; readonly facts: ReadFacts }
  | { readonly kind: 'outline'; readonly facts: ReadFacts; readonly pageId: string }
  | { readonly kind: 'markdown'; readonly docId: string; readonly pageId: string }
  | { readonly kind: 'svg'; readonly pageId: string }
  | { readonly kind: 'marks' }
)

export type ViewResult =
  | { readonly kind: 'members'; readonly members: Readonly<Record<string, unknown>> }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'marks'; readonly marks: PageMarks }
  | { readonly kind: 'no-page' }

/** A mark for the content of each page, by kind and id: equal marks mean equal content. */
export type PageMarks = ReadonlyMap<string, string>

export function markKey(kind: 'prose' | 'canvas', pageId: string): string {
  return `${kind} ${pageId}`
}

/** Runs one view task. Pure. */
export function runViewTask(task: ViewTask, icons: IconPaths): ViewResult {
  const body = readStoredBody(task.bytes)
  switch (task.kind) {
    case 'document': {
      const read = readDocument('get_document', body, task.facts, {})
      return read.kind === 'refused' ? { kind: 'no-page' } : { kind: 'members', members: read.result }
    }
    case 'outline': {
      const read = readDocument('get_outline', body, task.facts, { pageId: task.pageId })
      return read.kind === 'refused' ? { kind: 'no-page' } : { kind: 'members', members: read.result }
    }
    case 'markdown': {
      const page = findProsePage(body, task.pageId)
      return isRefusal(page) ? { kind: 'no-page' } : { kind: 'text', text: markdownOf(page.content, task) }
    }
    case 'svg': {
      const page = body.canvas.pages.find(({ id }) => id === task.pageId)
      return page === undefined ? { kind: 'no-page' } : { kind: 'text', text: renderPage(page, 1, icons).svg }
    }
    case 'marks':
      return { kind: 'marks', marks: marksOf(body) }
  }
}

const MAX_BYTES = 1_048_576

/** Returns the whole page, or as many blocks as fit, followed by a line that explains how to read the rest. [RES-2, RES-8] */
function markdownOf(content: string, { docId, pageId }: { readonly docId: string; readonly pageId: string }): string {
  const last = `\n\nThe page goes on: read it with service_get_prose, docId ${JSON.stringify(docId)}, pageId ${JSON.stringify(pageId)}, format "markdown", and each nextCursor as cursor.`
  return serialiseMarkdownWithin(blocksOf(content), MAX_BYTES, last)
}

function* blocksOf(content: string): Generator<ProseElement> {
  for (const { block } of storedBlocks(content, 0)) yield block
}

function marksOf({ prose, canvas }: DocumentBody): PageMarks {
  const marks = new Map<string, string>()
  for (const [kind, pages] of [
    ['prose', prose.pages],
    ['canvas', canvas.pages],
  ] as const)
    for (const page of pages) marks.set(markKey(kind, page.id), createHash('sha1').update(JSON.stringify(page)).digest('base64'))
  return marks
}
