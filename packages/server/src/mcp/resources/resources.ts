import type { Printed } from '@docrelay/model/prose/block-names'
import type { Access } from '../../access/access.ts'
import type { Documents } from '../../documents/documents.ts'
import { decodeCursor, encodeCursor, type ListedPage } from '../../documents/listing.ts'
import type { McpResources, ResourcePage, ResourceReader } from '../content.ts'
import type { JsonObject, McpCaller, ToolView } from '../tool.ts'
import type { IconCatalogue } from '../tools/icon-catalogue.ts'
import type { SkillsFor } from '../tools/skills.ts'
import { factsOf, type OpenedDocument } from '../read-facts.ts'
import { mayReadDocument, readableDocument } from './documents-of.ts'
import { type DocumentResource, documentUri, ICONS_URI, PAGE_PARTS, pageTemplate, pageUri, readUri, skillUri } from './uris.ts'
import { resourceKey } from './view-task.ts'
import type { Views } from './views.ts'

export interface ResourcesDeps {
  readonly documents: Pick<Documents, 'list' | 'get' | 'require'>
  readonly views: Pick<Views, 'look'>
  readonly icons: IconCatalogue
  readonly skills: SkillsFor
}

const PAGE = 100
const JSON_TYPE = 'application/json'
const MARKDOWN = 'text/markdown'
const TYPES = { document: JSON_TYPE, markdown: MARKDOWN, outline: JSON_TYPE, svg: 'image/svg+xml' } as const
const TITLES = {
  markdown: 'Prose page as Markdown',
  outline: 'Outline of a prose page',
  svg: 'Picture of a canvas page',
} as const

/** Makes the list of resources, the resource templates and their contents. [RES-1..RES-8] */
export function createResources(deps: ResourcesDeps): Omit<McpResources, 'watch'> {
  const { documents, icons } = deps
  const { skills } = deps.skills({ extra: true })
  const recipes = ['contract', ...skills.map(({ skill }) => skill)]
  const textOfSkill = (name: string, view: Pick<ToolView, 'extra'>): string | null => {
    const { contract, recipe } = deps.skills(view)
    return name === 'contract' ? contract : recipe(name)
  }
  const everywhere: readonly JsonObject[] = [
    { uri: ICONS_URI, name: 'icons', title: 'Icon catalogue', mimeType: JSON_TYPE },
    ...recipes.map((name) => ({
      uri: skillUri(name),
      name,
      title: skills.find(({ skill }) => skill === name)?.title ?? 'Content contract',
      mimeType: MARKDOWN,
    })),
  ]

  async function list({ access }: McpCaller, cursor: string | null): Promise<ResourcePage | null> {
    const after = cursor === null ? null : decodeCursor(cursor)
    if (cursor !== null && after === null) return null
    const before = cursor === null ? everywhere : []
    const limit = PAGE - before.length
    const page = await documents.list(access, { limit, after, titlePart: null, collectionId: undefined })
    return { resources: [...before, ...page.items.map(listedDocument)], nextCursor: page.next && encodeCursor(page.next) }
  }

  async function readDocumentPart({ access, naming }: ResourceReader, name: DocumentResource): Promise<string | null> {
    const found = await readableDocument(documents, access, name.id)
    return found === null ? null : partOf(found, name, { workspaceId: access.workspaceId, naming }, deps)
  }

  async function read(reader: ResourceReader, uri: string, view: Pick<ToolView, 'extra'>): Promise<readonly JsonObject[] | null> {
    const name = readUri(uri)
    if (name === null) return null
    switch (name.kind) {
      case 'icons': {
        const text = JSON.stringify({ ...icons, total: icons.icons.length })
        return [{ uri, mimeType: JSON_TYPE, text }]
      }
      case 'skill': {
        const text = textOfSkill(name.name, view)
        return text === null ? null : [{ uri, mimeType: MARKDOWN, text }]
      }
      default: {
        const text = await readDocumentPart(reader, name)
        return text === null ? null : [{ uri, mimeType: TYPES[name.kind], text }]
      }
    }
  }

  /** Reads the named documents one after another, so that a call with many URIs holds only one body at a time. */
  async function readable({ access }: McpCaller, uris: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    const named = new Map<string, Map<string, DocumentResource>>()
    for (const uri of uris) {
      const name = readUri(uri)
      if (name === null) continue
      if (name.kind === 'icons' || (name.kind === 'skill' && textOfSkill(name.name, { extra: true }) !== null)) found.add(uri)
      else if (name.kind !== 'skill') named.set(name.id, (named.get(name.id) ?? new Map()).set(uri, name))
    }
    for (const [id, parts] of named) {
      const there = await partsThere(access, id, [...parts.values()])
      for (const [uri, name] of parts) if (there(name)) found.add(uri)
    }
    return found
  }

  async function partsThere(
    access: Access,
    id: string,
    parts: readonly DocumentResource[],
  ): Promise<(part: DocumentResource) => boolean> {
    if (parts.every(({ kind }) => kind === 'document')) {
      const isThere = await mayReadDocument(documents, access, id)
      return () => isThere
    }
    const found = await readableDocument(documents, access, id)
    if (found === null) return () => false
    const seen = await deps.views.look(access.workspaceId, { kind: 'pages', bytes: found.record.body })
    const keys = seen.kind === 'pages' ? seen.keys : new Set<string>()
    return (part) => part.kind === 'document' || keys.has(resourceKey(part))
  }

  return {
    list,
    read,
    readable,
    templates: TEMPLATES,
    isPublic: (uri) => ['icons', 'skill'].includes(readUri(uri)?.kind ?? ''),
  }
}

const TEMPLATES: readonly JsonObject[] = [
  { uriTemplate: 'relay://doc/{id}', name: 'document', title: 'Document', mimeType: TYPES.document },
  ...PAGE_PARTS.map((part) => ({
    uriTemplate: pageTemplate(part),
    name: part,
    title: TITLES[part],
    mimeType: TYPES[part],
  })),
  { uriTemplate: 'relay://skills/{name}', name: 'skill', title: 'Recipe', mimeType: MARKDOWN },
]

function listedDocument({ head }: ListedPage['items'][number]): JsonObject {
  const lastModified = new Date(head.updatedAtMs).toISOString()
  return { uri: documentUri(head.id), name: head.facts.title, mimeType: TYPES.document, annotations: { lastModified } }
}

/** Returns the content of a resource of a document; `null` when the document has no such page. */
async function partOf(
  found: OpenedDocument,
  name: DocumentResource,
  { workspaceId, naming }: { readonly workspaceId: string } & Printed,
  { views }: ResourcesDeps,
): Promise<string | null> {
  const { body: bytes } = found.record
  const facts = factsOf(found)
  const seen =
    name.kind === 'document'
      ? await views.look(workspaceId, { kind: 'document', bytes, facts })
      : name.kind === 'outline'
        ? await views.look(workspaceId, { kind: 'outline', bytes, facts, pageId: name.pageId, naming })
        : name.kind === 'svg'
          ? await views.look(workspaceId, { kind: 'svg', bytes, pageId: name.pageId })
          : await views.look(workspaceId, { kind: 'markdown', bytes, docId: name.id, pageId: name.pageId })
  if (seen.kind === 'text') return seen.text
  if (seen.kind !== 'members') return null
  return JSON.stringify(name.kind === 'document' ? { ...seen.members, resources: pageUris(name.id, seen.members) } : seen.members)
}

/** Returns the URIs of the resources of a document's pages. [RES-1] */
function pageUris(id: string, members: JsonObject): readonly string[] {
  const idsOf = (name: string) => (members[name] as readonly { readonly id: string }[]).map((page) => page.id)
  return [
    ...idsOf('prosePages').flatMap((pageId) => [pageUri('markdown', id, pageId), pageUri('outline', id, pageId)]),
    ...idsOf('pages').map((pageId) => pageUri('svg', id, pageId)),
  ]
}
