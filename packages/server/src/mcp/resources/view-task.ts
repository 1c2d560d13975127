import { createHash } from 'node:crypto'
import type { DocumentBody } from '@docrelay/model/body'
import { readStoredBody } from '@docrelay/model/body-parse'
import { isRefusal } from '@docrelay/model/edit'
import type { Printed } from '@docrelay/model/prose/block-names'
import { serialiseMarkdownWithin } from '@docrelay/model/prose/markdown-write'
import type { ProseElement } from '@docrelay/model/prose/node'
import { findProsePage } from '@docrelay/model/prose/page'
import { storedBlocks } from '@docrelay/model/prose/stored-blocks'
import { readDocument, type ReadFacts } from '@docrelay/model/reads'
import type { IconPaths } from '@docrelay/model/render/icon-svg'
import { renderPage } from '@docrelay/model/render/page-svg'
import type { PagePart } from './uris.ts'

/** A read of a stored body that runs in a task thread. Input and output are plain data. */
export type ViewTask = { readonly bytes: Uint8Array } & (
  | { readonly kind: 'document'; readonly facts: ReadFacts }
  | ({ readonly kind: 'outline'; readonly facts: ReadFacts; readonly pageId: string } & Printed)
  | { readonly kind: 'markdown'; readonly docId: string; readonly pageId: string }
  | { readonly kind: 'svg'; readonly pageId: string }
  | { readonly kind: 'marks' }
  | { readonly kind: 'pages' }
)

export type ViewResult =
  | { readonly kind: 'members'; readonly members: Readonly<Record<string, unknown>> }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'marks'; readonly marks: PageMarks }
  /** The keys of the pages, as `markKey` makes them. */
  | { readonly kind: 'pages'; readonly keys: ReadonlySet<string> }
  | { readonly kind: 'no-page' }

/** A hash of the content of each page, by the page's key: equal hashes mean equal content. */
export type PageMarks = ReadonlyMap<string, string>

export function markKey(kind: 'prose' | 'canvas', pageId: string): string {
  return `${kind} ${pageId}`
}

/** Returns the key of the page that a resource shows. */
export function resourceKey({ kind, pageId }: { readonly kind: PagePart; readonly pageId: string }): string {
  return markKey(kind === 'svg' ? 'canvas' : 'prose', pageId)
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
      const read = readDocument('get_outline', body, task.facts, { pageId: task.pageId, naming: task.naming })
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
    case 'pages':
      return { kind: 'pages', keys: new Set(pagesOf(body).map(([key]) => key)) }
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

function marksOf(body: DocumentBody): PageMarks {
  return new Map(pagesOf(body).map(([key, page]) => [key, createHash('sha1').update(JSON.stringify(page)).digest('base64')]))
}

function pagesOf({ prose, canvas }: DocumentBody): readonly (readonly [key: string, page: object])[] {
  return [
    ...prose.pages.map((page) => [markKey('prose', page.id), page] as const),
    ...canvas.pages.map((page) => [markKey('canvas', page.id), page] as const),
  ]
}
