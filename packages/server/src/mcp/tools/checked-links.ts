import type { ContentLink, Warning } from '@docrelay/model/edit'
import { deadLink, likelyNames, relativeLink } from '@docrelay/model/prose/link-targets'
import { relativeEnd } from '@docrelay/model/prose/relative-links'
import { readRelayLink, type RelayLink } from '@docrelay/model/prose/relay-links'
import type { Access } from '../../access/access.ts'
import type { Bodies } from '../../documents/bodies.ts'
import { isDocumentId } from '../../documents/document-id.ts'
import type { Documents } from '../../documents/documents.ts'
import { withMoreWarnings } from '../../documents/notes.ts'
import type { EditOutcome } from '../../documents/residents.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { factsOf } from '../read-facts.ts'
import type { Editable } from './edit-tool.ts'

export interface LinkDeps {
  readonly documents: Pick<Documents, 'edit' | 'require' | 'readableOf' | 'get' | 'list'>
  readonly bodies: Pick<Bodies, 'for'>
}

/** Returns the document service with edits that warn of relative links, and of links that lead nowhere the caller may read. [AG-84, AG-85] */
export function withCheckedLinks(deps: LinkDeps): Editable {
  return {
    require: (access, id, needed) => deps.documents.require(access, id, needed),
    async edit(access, input) {
      const outcome = await deps.documents.edit(access, input)
      const links = linksOf(outcome)
      return links.length === 0 ? outcome : withWarnings(outcome, await warningsOf(access, links, deps))
    },
  }
}

function linksOf(outcome: EditOutcome): readonly ContentLink[] {
  if (outcome.kind === 'refused') return []
  return (outcome.kind === 'edited' ? outcome.links : outcome.answer.links) ?? []
}

function withWarnings(outcome: EditOutcome, more: readonly Warning[]): EditOutcome {
  if (outcome.kind === 'refused' || more.length === 0) return outcome
  if (outcome.kind === 'edited') return { ...outcome, warnings: [...outcome.warnings, ...more] }
  const { answer } = outcome
  return { ...outcome, answer: { ...answer, notes: withMoreWarnings(answer.notes, more) } }
}

/** A link that a call wrote, and the target it names. */
interface Asked {
  readonly link: ContentLink
  readonly target: RelayLink
}

/** The result of checking links to one document: for each link `null`, or the nearest targets if its own is missing. `unknown`: not readable now. */
type Found = 'missing' | 'unknown' | readonly (readonly RelayLink[] | null)[]

/** Checks links after the edit was stored. Never rejects, because the edit has succeeded. */
async function warningsOf(access: Access, links: readonly ContentLink[], deps: LinkDeps): Promise<readonly Warning[]> {
  const byDocument = new Map<string, Asked[]>()
  for (const link of links) {
    const target = readRelayLink(link.href)
    if (target === null) continue
    const asked = byDocument.get(target.docId) ?? []
    byDocument.set(target.docId, [...asked, { link, target }])
  }
  const ends = new Map(links.map((link) => [link, relativeEnd(link.href) ?? '']))
  const named = [...new Set([...byDocument.keys(), ...ends.values()])].filter(isDocumentId)
  // Only heads are compared: no other content of an unreadable document can influence the answer.
  const readable = await deps.documents.readableOf(access, named).catch(() => null)
  const dead = new Map<ContentLink, readonly RelayLink[]>()
  const missing: string[] = []
  let unknown = 0
  // Documents are read one after another, so that a call holds only one body at a time.
  for (const [docId, asked] of byDocument) {
    const isReadable = readable?.has(docId) ?? null
    const found = isReadable === null ? 'unknown' : isReadable ? await targetsIn(access, docId, asked, deps) : 'missing'
    if (found === 'unknown') unknown += asked.length
    else if (found === 'missing') missing.push(docId)
    else for (const [i, { link }] of asked.entries()) if (found[i]) dead.set(link, found[i])
  }
  const nearest = await nearestDocuments(access, missing, deps)
  for (const docId of missing) for (const { link } of byDocument.get(docId) ?? []) dead.set(link, nearest.get(docId) ?? [])
  const warnings = [
    ...links.flatMap((link) => (dead.has(link) ? [deadLink(link, dead.get(link) ?? [])] : [])),
    // A relative link is reported when it ends with the id of a document that the caller may read. [AG-85]
    ...links.flatMap((link) => {
      const docId = ends.get(link) ?? ''
      return readable?.has(docId) ? [relativeLink(link, { docId })] : []
    }),
  ]
  return unknown === 0 ? warnings : [...warnings, { reason: `${unknown} links could not be checked now; they were kept` }]
}

/** Checks links to a readable document for missing pages and blocks. Reads no body when the links name only the document. */
async function targetsIn(
  access: Access,
  docId: string,
  asked: readonly Asked[],
  { documents, bodies }: LinkDeps,
): Promise<Found> {
  try {
    if (asked.every(({ target: { pageId, blockId } }) => pageId === undefined && blockId === undefined)) return []
    const opened = await documents.get(access, docId)
    const links = asked.map(({ target }) => target)
    const { body: bytes } = opened.record
    const read = await bodies
      .for(access.workspaceId)
      .read({ bytes, read: 'link_targets', args: { links }, facts: factsOf(opened) })
    return read.kind === 'read' ? (read.result['missing'] as Found) : 'unknown'
  } catch (error) {
    const isMissing = error instanceof RelayError && (error.code === 'NOT_FOUND' || error.code === 'VIEW_FORBIDDEN')
    return isMissing ? 'missing' : 'unknown'
  }
}

/** At most this many missing ids get suggestions, since each id is compared with many documents. */
const MOST_NEAREST = 10

/** Returns for each missing id the readable documents with a similar id or name. */
async function nearestDocuments(
  access: Access,
  missing: readonly string[],
  { documents }: LinkDeps,
): Promise<ReadonlyMap<string, readonly RelayLink[]>> {
  if (missing.length === 0) return new Map()
  const query = { limit: null, after: null, titlePart: null, collectionId: undefined }
  const listed = await documents.list(access, query).catch(() => null)
  const idOf = new Map<string, string>()
  for (const { head } of listed?.items ?? []) if (head.facts.title !== '') idOf.set(head.facts.title, head.id)
  for (const { head } of listed?.items ?? []) idOf.set(head.id, head.id)
  const nearestTo = (docId: string) => new Set(likelyNames(docId, idOf.keys()).map((name) => idOf.get(name) as string))
  return new Map(missing.slice(0, MOST_NEAREST).map((docId) => [docId, [...nearestTo(docId)].map((near) => ({ docId: near }))]))
}
