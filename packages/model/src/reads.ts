import type { DocumentBody } from './body.ts'
import { shownTitle } from './body-title.ts'
import { fileEntry, fileReferences, type HeldFile } from './canvas/files.ts'
import { type FileArgs, fileArgsFlaw, findFile } from './canvas/find-file.ts'
import { findCanvasPage } from './canvas/find-page.ts'
import { lintPage } from './canvas/page-lint.ts'
import { readablePage, shapesInOrder } from './canvas/read-back.ts'
import { getShape, type GetShape, shownShape } from './canvas/shown-shapes.ts'
import { isRefusal, type Refusal } from './edit.ts'
import { listFields } from './fields/list-fields.ts'
import { cursorFlaw, listingOf, pageOf, type Listing, type Members, type PageArgs } from './paging.ts'
import { pageName } from './pages.ts'
import { namingOf, type Printed } from './prose/block-names.ts'
import { missingTargets } from './prose/link-targets.ts'
import { pageOrder } from './prose/page.ts'
import type { RelayLink } from './prose/relay-links.ts'
import { getOutline, type GetOutline, outlineFlaw } from './prose/read-outline.ts'
import { getProse, proseSelectionFlaw, type GetProse } from './prose/read-prose.ts'
import { selectorFlaw } from './prose/tables/select.ts'
import { getTable, type GetTable } from './prose/tables/table-edits.ts'
import type { ShownPage, TellShown } from './seen/shown.ts'
import { listReferences } from './references/list-references.ts'

/** The facts of a document that a read knows besides its body: the version of the body, and the rights of the caller. */
export interface ReadFacts {
  readonly id: string
  readonly serverVersion: number
  readonly source: 'relay' | 'local'
  readonly modifiedAt: number
  readonly access: 'view' | 'edit' | 'owner'
  readonly collectionId: string | null
  /** The referenced files that the workspace holds, by hash; only `list_files` needs these. */
  readonly held?: ReadonlyMap<string, HeldFile>
}

interface Answer {
  readonly kind: 'answer'
  readonly members: Members
}

/** A read tool of one document: pure, and the same for a cold and a live document. `args` passed the schema of the tool. */
type Read<A> = (body: DocumentBody, facts: ReadFacts, args: A, tell: TellShown) => Answer | Listing<unknown> | Refusal

interface OnPage {
  readonly pageId: string
}

interface GetPage extends OnPage, PageArgs, Printed {
  readonly lint?: boolean
}

/** The arguments of each read tool that needs nothing but the document. */
export interface ReadArgs {
  readonly get_document: object
  readonly get_page: GetPage
  readonly get_shape: GetShape
  readonly get_prose: GetProse & PageArgs
  readonly get_outline: GetOutline
  readonly get_table: GetTable
  readonly list_references: PageArgs
  readonly list_fields: object
  readonly list_files: PageArgs
  /** Finds what the document stores about a file. The bytes of the file are in the workspace. */
  readonly get_file: FileArgs
  /** Not a tool: says for each link whether its target exists, else which targets are nearest. [AG-84] */
  readonly link_targets: { readonly links?: readonly RelayLink[] }
}

export type ReadName = keyof ReadArgs

const reads: { readonly [N in ReadName]: Read<ReadArgs[N]> } = {
  get_document: (body, facts) => answer(documentSummary(body, facts)),
  get_page: (body, _, args) => canvasPage(body, args),
  get_shape: (body, _, args) => answerOf(getShape(body, args)),
  get_prose: (body, _, args, tell) => getProse(body, args, tell),
  get_outline: (body, _, args, tell) => {
    const read = getOutline(body, args, tell)
    return 'kind' in read ? read : answer({ ...read })
  },
  get_table: (body, _, args, tell) => answerOf(getTable(body, args, tell)),
  list_references: (body) => references(body),
  list_fields: (body) => {
    const fields = listFields(body)
    return answer({ fields, count: fields.length })
  },
  list_files: (body, facts) => files(body, facts),
  get_file: (body, _, args) => answerOf(findFile(body, args)),
  link_targets: (body, _, { links = [] }) => answer({ missing: missingTargets(body, links) }),
}

export const readNames = Object.keys(reads) as readonly ReadName[]

/** Refuse arguments of a read that are wrong for every document; `readFlaw` checks cursors itself. [MCP-3] */
const flaws: { readonly [N in ReadName]?: (args: ReadArgs[N]) => Refusal | null } = {
  get_prose: proseSelectionFlaw,
  get_outline: outlineFlaw,
  get_table: selectorFlaw,
  get_file: fileArgsFlaw,
}

/** Refuses arguments of a read that are wrong for every document; `null` otherwise. `args` passed the schema of the tool. [MCP-3] */
export function readFlaw(name: ReadName, docId: string, args: unknown): Refusal | null {
  const flaw = flaws[name] as ((args: unknown) => Refusal | null) | undefined
  return flaw?.(args) ?? cursorFlaw(args as PageArgs, listed(name, docId, args as ReadArgs[ReadName]))
}

/** Arguments that change how items are shown, but not which items. */
interface Shown extends PageArgs, Printed {
  readonly lint?: unknown
  readonly image?: unknown
}

/** Names the list that a call reads: a cursor is valid only for the same list of the same document. [TOOL-24] */
function listed(name: ReadName, docId: string, args: ReadArgs[ReadName]): string {
  // Lint and picture of a page are no part of its list, so a call for the next part may leave these arguments out.
  const { limit: _, cursor: __, lint: ___, image: ____, naming: _____, ...selection } = args as Shown
  const named = Object.entries(selection).map(([argument, value]) => `${argument} ${String(value).slice(0, 1_000)}`)
  return JSON.stringify([name, docId, ...named.sort()])
}

/** Runs a read tool. The result includes `serverVersion` and `source`; a list is cut as the call asks. [TOOL-15, TOOL-23] */
export function readDocument<N extends ReadName>(
  name: N,
  body: DocumentBody,
  facts: ReadFacts,
  args: ReadArgs[N],
): { readonly kind: 'read'; readonly result: Members; readonly shown?: readonly ShownPage[] } | Refusal {
  let shown: readonly ShownPage[] = []
  const read = reads[name](body, facts, args, (pages) => {
    shown = pages
  })
  if (read.kind === 'refused') return read
  const members =
    read.kind === 'answer' ? read.members : pageOf(read, listed(name, facts.id, args), args as PageArgs, facts.serverVersion)
  if (isRefusal(members)) return members
  const result = { ...members, serverVersion: facts.serverVersion, source: facts.source }
  return { kind: 'read', result, ...(shown.length > 0 && { shown }) }
}

/** Lists the pages and counts of a document. [TOOL-get_document] */
function documentSummary(body: DocumentBody, facts: ReadFacts): Members {
  const lockedBy = body.members.get('lockedBy')
  return {
    id: facts.id,
    name: shownTitle(body),
    modifiedAt: facts.modifiedAt,
    lockedBy: typeof lockedBy === 'string' ? lockedBy : null,
    access: facts.access,
    collectionId: facts.collectionId,
    pages: body.canvas.pages.map((page) => ({ id: page.id, name: pageName(page), shapeCount: page.shapes.length })),
    prosePages: body.prose.pages.map((page, index) => ({
      id: page.id,
      name: pageName(page),
      order: pageOrder(page, index),
    })),
    fields: listFields(body),
    referenceCount: body.references?.kind === 'references' ? body.references.order.length : 0,
  }
}

const MAX_LIMIT = 1000

/** Lists the shapes of a canvas page. [TOOL-get_page, CANVAS-17, AG-109] */
function canvasPage(body: DocumentBody, args: GetPage): Listing<unknown> | Refusal {
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const items = shapesInOrder(page)
  const readable = readablePage(page)
  const found = args.lint === true ? lintPage(page) : {}
  return listingOf({
    maxLimit: MAX_LIMIT,
    items,
    read: (shape) => shownShape(shape, readable, namingOf(args)),
    nameOf: (shape) => String(shape['id']),
    show: (shapes) => ({ pageId: page.id, shapes, shapeCount: items.length, ...found }),
  })
}

/** Lists the references of a document. [TOOL-list_references, REF-1] */
function references(body: DocumentBody): Listing<unknown> {
  const { references: items, style } = listReferences(body)
  return listingOf({
    maxLimit: MAX_LIMIT,
    items,
    read: (item) => item,
    nameOf: (item) => String(item['id']),
    show: (shown) => ({ references: shown, style, count: items.length }),
  })
}

/** Lists the files of a document. [TOOL-list_files, FILE-1] */
function files(body: DocumentBody, { held }: ReadFacts): Listing<unknown> {
  const items = fileReferences(body)
  return listingOf({
    maxLimit: MAX_LIMIT,
    items,
    read: (reference) => fileEntry(reference, held?.get(reference.hash)),
    nameOf: (reference) => reference.hash,
    show: (shown) => ({ files: shown, count: items.length }),
  })
}

function answer(members: Members): Answer {
  return { kind: 'answer', members }
}

function answerOf(read: object): Answer | Refusal {
  return isRefusal(read) ? read : answer({ ...read })
}
