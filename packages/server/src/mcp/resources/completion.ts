import type { Access } from '../../access/access.ts'
import type { Documents } from '../../documents/documents.ts'
import type { CompletionRequest, McpContent } from '../content.ts'
import type { JsonObject } from '../tool.ts'
import type { SkillLibrary, SkillsFor } from '../tools/skills.ts'
import { factsOf } from '../read-facts.ts'
import { readableDocument } from './documents-of.ts'
import { pageTemplate } from './uris.ts'
import type { Views } from './views.ts'

export interface CompletionDeps {
  readonly documents: Pick<Documents, 'list' | 'get'>
  readonly views: Pick<Views, 'look'>
  readonly skills: SkillsFor
}

const MAX_VALUES = 100

/** The kind of thing that an argument names. */
type Completes =
  | { readonly kind: 'document' }
  /** `of`: the name of the argument that holds the document id. */
  | { readonly kind: 'page'; readonly pages: 'pages' | 'prosePages'; readonly of: string }
  | { readonly kind: 'skill' }
  | { readonly kind: 'nothing' }

const DOCUMENT: Completes = { kind: 'document' }
const page = (pages: 'pages' | 'prosePages', of: string): Completes => ({ kind: 'page', pages, of })

/** Arguments of the resource templates. [RES-9] */
const TEMPLATES: ReadonlyMap<string, Readonly<Record<string, Completes>>> = new Map<string, Readonly<Record<string, Completes>>>([
  ['relay://doc/{id}', { id: DOCUMENT }],
  [pageTemplate('markdown'), { id: DOCUMENT, pageId: page('prosePages', 'id') }],
  [pageTemplate('outline'), { id: DOCUMENT, pageId: page('prosePages', 'id') }],
  [pageTemplate('svg'), { id: DOCUMENT, pageId: page('pages', 'id') }],
  ['relay://skills/{name}', { name: { kind: 'skill' } }],
])

/** Makes the completion of arguments of resource templates and prompts. [RES-9] */
export function createCompletion(deps: CompletionDeps): McpContent['complete'] {
  const skills = deps.skills({ extra: true })
  return async ({ access }, request) => {
    const completes = completedBy(request, skills)
    return completes === null ? null : completion(await valuesOf(completes, access, request, { ...deps, skills }))
  }
}

/** Returns what to complete the argument with; `null` when the reference names nothing that can be completed. */
function completedBy({ ref, argument }: CompletionRequest, { skills }: SkillLibrary): Completes | null {
  if (ref['type'] === 'ref/resource') {
    const template = TEMPLATES.get(String(ref['uri']))
    return template !== undefined && Object.hasOwn(template, argument.name) ? (template[argument.name] ?? null) : null
  }
  const skill = ref['type'] === 'ref/prompt' ? skills.find((candidate) => candidate.skill === ref['name']) : undefined
  if (!skill?.arguments.some(({ name }) => name === argument.name)) return null
  if (argument.name === 'docId') return DOCUMENT
  if (argument.name !== 'pageId') return { kind: 'nothing' }
  return page(skill.skill === 'diagram-from-description' ? 'pages' : 'prosePages', 'docId')
}

async function valuesOf(
  completes: Completes,
  access: Access,
  { argument: { value }, known }: CompletionRequest,
  { documents, views, skills }: Omit<CompletionDeps, 'skills'> & { readonly skills: SkillLibrary },
): Promise<readonly string[]> {
  switch (completes.kind) {
    case 'document': {
      const { items } = await documents.list(access, { limit: null, after: null, titlePart: null, collectionId: undefined })
      const part = value.toLowerCase()
      const matches = items.filter(({ head }) => head.id.startsWith(value) || head.facts.title.toLowerCase().includes(part))
      return matches.map(({ head }) => head.id)
    }
    case 'page': {
      const id = known[completes.of]
      const found = typeof id === 'string' ? await readableDocument(documents, access, id) : null
      if (found === null) return []
      const seen = await views.look(access.workspaceId, { kind: 'document', bytes: found.record.body, facts: factsOf(found) })
      const pages = seen.kind === 'members' ? (seen.members[completes.pages] as readonly { readonly id: string }[]) : []
      return pages.map((one) => one.id).filter((pageId) => pageId.startsWith(value))
    }
    case 'skill':
      return ['contract', ...skills.skills.map(({ skill }) => skill)].filter((name) => name.startsWith(value))
    case 'nothing':
      return []
  }
}

function completion(values: readonly string[]): JsonObject {
  return { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES }
}
