import { isRefusal } from '@docrelay/model/edit'
import { quote } from '@docrelay/model/quote'
import type { Seen, SeenChange } from '@docrelay/model/seen/seen'
import type { ShownPage } from '@docrelay/model/seen/shown'
import type { Access } from '../../access/access.ts'
import type { Author, RecordedChange } from '../../documents/change-record.ts'
import type { ChangeRecords } from '../../documents/change-records.ts'
import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Documents } from '../../documents/documents.ts'
import type { EditOutcome } from '../../documents/residents.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { CallContext, Glance, JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import type { Cursors } from './caller-memory.ts'
import type { Callers, SharedCaller } from './callers.ts'
import type { Memories } from './memories.ts'
import { newsFor } from './news.ts'

/** What a glance needs from the relay. */
export interface GlanceDeps {
  readonly memories: Memories
  readonly callers: Callers
  readonly records: ChangeRecords
  readonly documents: Pick<Documents, 'require'>
  readonly blindWrites: Seen['blind']
  readonly clock: Pick<Clock, 'nowMs'>
}

type Outcome = ToolSuccess | ToolFailure

/** A person who moved a shape less than this long ago may still be moving it. [AG-5] */
const MOVING_MS = 2_000

/** One tool call about one document, with what its caller has seen of that document. [AG-17..AG-23] */
export interface OpenGlance extends Glance, Disposable {
  /** Updates the memory of the caller after a success, and adds news of other writers' changes to the answer. */
  renew(outcome: Outcome): Promise<Outcome>
}

/**
 * Opens a glance for a call; `null` when the call names no document. The relay records changes of the document until the glance is
 * disposed of.
 */
export function openGlance(deps: GlanceDeps, call: CallContext & { readonly args: JsonObject }): OpenGlance | null {
  const { docId } = call.args
  if (typeof docId !== 'string') return null
  return new CallGlance(deps, call, { workspaceId: call.access.workspaceId, id: docId })
}

class CallGlance implements OpenGlance {
  readonly author: Author
  readonly #deps: GlanceDeps
  readonly #ref: DocumentRef
  readonly #access: Access
  readonly #args: JsonObject
  readonly #caller: SharedCaller
  readonly #release: () => void
  /** Sequence number of the change record when the call began, or after its write. */
  #partOf: number
  #shown: readonly ShownPage[] = []
  /** Shapes that people moved within MOVING_MS before the write, and the ids of those that the write changed as well. */
  #moving: readonly RecordedChange[] = []
  #disturbed: readonly string[] = []

  constructor(deps: GlanceDeps, call: CallContext & Pick<ToolCall, 'args'>, ref: DocumentRef) {
    const { access, clientName, args } = call
    this.#deps = deps
    this.#ref = ref
    this.#access = access
    this.#args = args
    this.#caller = deps.callers.of(call)
    // Recording starts before the call reads, so that no change between its read and its answer is missed.
    this.#release = deps.records.hold(ref)
    this.#partOf = this.#sequence
    const who = { id: access.sub, kind: 'agent', ...(clientName !== null && { name: clientName }) } as const
    this.author = { who, caller: this.#caller.key }
  }

  get #sequence(): number {
    return this.#deps.records.of(this.#ref)?.sequence ?? 0
  }

  get seen(): Seen {
    const { memories, records, blindWrites } = this.#deps
    const memory = this.#caller.isShared ? null : memories.of(this.#caller.key, this.#ref)
    const isNamed = pagesOf(this.#args)
    const changes = records.of(this.#ref)?.since(0, this.#caller.key) ?? []
    return {
      pages: memory?.pages(isNamed) ?? [],
      changes: changes.flatMap(({ kind, pageId, id, isRemoved, who }): SeenChange | [] =>
        isNamed(pageId) ? { kind, pageId, id, isRemoved, who } : [],
      ),
      blind: blindWrites,
    }
  }

  get told(): Glance['told'] {
    const memory = this.#deps.memories.of(this.#caller.key, this.#ref)
    return memory && { version: memory.version, sequence: memory.toldTo, partOf: memory.partOf }
  }

  showed(pages: readonly ShownPage[]): void {
    this.#shown = pages
  }

  noting(): void {
    const sinceMs = this.#deps.clock.nowMs() - MOVING_MS
    const changes = this.#deps.records.of(this.#ref)?.since(0, this.#caller.key) ?? []
    this.#moving = changes.filter(({ kind, who, atMs }) => kind === 'shape' && who.kind === 'person' && atMs >= sinceMs)
  }

  wrote(outcome: EditOutcome): void {
    if (isRefusal(outcome) || outcome.kind !== 'edited' || this.#args['dryRun'] === true) return
    this.#partOf = this.#sequence
    const { delta = [], shown, head } = outcome
    const written = new Set(delta.flatMap(({ pageId, shapes }) => shapes.map((id) => `${pageId} ${id}`)))
    this.#disturbed = this.#moving.flatMap(({ pageId, id }) => (id !== null && written.has(`${pageId} ${id}`) ? id : []))
    // The memory is updated before the answer, because other calls of the same caller may run at the same time.
    this.#deps.memories.update(this.#caller.key, this.#ref, (memory) => {
      if (memory.version === 0) {
        memory.version = head.version
        memory.toldTo = this.#sequence
      }
      memory.wrote(delta, this.#args['brief'] === true)
      if (shown !== undefined) memory.wroteWhole(shown)
    })
  }

  async renew(outcome: Outcome): Promise<Outcome> {
    return outcome.kind === 'success' ? this.#succeeded(outcome) : this.#failed(outcome)
  }

  [Symbol.dispose](): void {
    this.#release()
  }

  #succeeded(outcome: ToolSuccess): ToolSuccess {
    const { structured } = outcome
    const { serverVersion, replayed, dryRun, deleted } = structured
    if (replayed === true) return outcome
    if (typeof serverVersion !== 'number') {
      if (deleted === this.#ref.id && dryRun !== true) this.#deps.memories.forget(this.#caller.key, this.#ref)
      return outcome
    }
    const news = this.#news(serverVersion)
    if (dryRun !== true) this.#renew(serverVersion, cursorsOf(this.#args, structured))
    const warnings = this.#disturbed.slice(0, MOST_WARNINGS).map(movedWarning)
    const warned =
      warnings.length === 0 ? {} : { warnings: [...((structured['warnings'] as readonly object[]) ?? []), ...warnings] }
    return { ...outcome, structured: { ...structured, ...warned, ...(news && { news }) } }
  }

  #renew(version: number, cursors: Cursors): void {
    const { memories } = this.#deps
    memories.update(this.#caller.key, this.#ref, (memory) => {
      memory.version = version
      memory.toldTo = this.#sequence
      memory.partOf = this.#partOf
      if (this.#shown.length > 0) memory.saw(this.#shown, cursors)
    })
  }

  /** Adds news to a failure, but only when the caller may read the document now. */
  async #failed(outcome: ToolFailure): Promise<ToolFailure> {
    const news = isRight(outcome) ? null : this.#news(null)
    if (news === null) return outcome
    try {
      await this.#deps.documents.require(this.#access, this.#ref.id, 'view')
    } catch (error) {
      if (error instanceof RelayError) return outcome
      throw error
    }
    return { ...outcome, facts: { ...outcome.facts, news } }
  }

  #news(version: number | null): object | null {
    const { memories, records } = this.#deps
    const memory = memories.of(this.#caller.key, this.#ref)
    return memory && newsFor(memory, records.of(this.#ref), this.#caller.key, version)
  }
}

const MOST_WARNINGS = 5

/** Warns that a person is moving a shape: a shape is one value, so the next move in the editor may restore the old one. [AG-5] */
function movedWarning(id: string): object {
  return {
    reason: `a person moves the shape ${quote(id)} at this moment, and may bring back what it was; look at it again when it rests`,
  }
}

/** Whether a call failed because its caller lacks a right or the document does not exist. */
function isRight({ code }: ToolFailure): boolean {
  return code === 'ERR_DOC_NOT_FOUND' || code.endsWith('_FORBIDDEN')
}

function cursorsOf({ cursor }: JsonObject, { nextCursor }: JsonObject): Cursors {
  return { given: typeof cursor === 'string' ? cursor : null, next: typeof nextCursor === 'string' ? nextCursor : null }
}

/** Tests whether a call may write a page: the named pages; every page for `steps`, an undo, and `edits` without `pageId`. */
function pagesOf({ pageId, toPageId, steps, edits, callId, last }: JsonObject): (id: string) => boolean {
  const isAny = [steps, callId, last].some((given) => given !== undefined) || (edits !== undefined && pageId === undefined)
  return (id) => isAny || id === pageId || id === toPageId
}
