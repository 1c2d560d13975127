import type { Warning } from '@docrelay/model/edit'
import type { RecordedChange } from '../../documents/change-record.ts'
import type { ChangeRecords } from '../../documents/change-records.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { Documents } from '../../documents/documents.ts'
import type { Timers } from '../../kernel/timers.ts'
import { sourceOf } from '../local-access.ts'
import { told } from '../memory/news.ts'
import { failure, success } from '../results.ts'
import { MAX_STREAMS } from '../streams.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { documentFailure, type WasDeleted } from './document-failures.ts'
import { annotations, DOCUMENT, FLAG, input } from './schema.ts'
import { output } from './output-schema.ts'
import type { ToolRow } from './tool-row.ts'

/** A call answers this long after the latest change, or LATEST_MS after the first one. [AG-74] */
const QUIET_MS = 2_000
const LATEST_MS = 10_000
/** How often a waiting call reads the document's head and checks the caller's right. */
const LOOK_MS = 2_000
const DEFAULT_SECS = 25

export interface WaitDeps {
  readonly documents: Pick<Documents, 'require'>
  readonly records: ChangeRecords
  readonly wasDeleted: WasDeleted
  readonly timers: Timers
}

interface Asked {
  readonly docId: string
  readonly since?: number
  readonly timeoutSecs?: number
  readonly agents?: boolean
}

/** The tool `wait_for_change`. [TOOL-wait_for_change, AG-74..AG-76] */
export function waitTool(deps: WaitDeps): ToolRow {
  return {
    name: 'wait_for_change',
    place: 52,
    title: 'Wait for change',
    description: 'Wait until a person (agents: or an agent) changes a document. Returns news.',
    inputSchema: input(DOCUMENT, {
      since: { type: 'integer', minimum: 0 },
      timeoutSecs: { type: 'integer', minimum: 1, maximum: 50 },
      agents: FLAG,
    }),
    outputSchema: output(['edited', 'serverVersion', 'source'], ['news', 'warnings']),
    annotations: annotations('RO'),
    toolset: 'read',
    access: 'view',
    bucket: 'read',
    errors: { ERR_STREAM_LIMIT: null },
    examples: [{ timeoutSecs: 1 }],
    needless: { since: { told: { since: 1_000_000, timeoutSecs: 1 } } },
    async run(call) {
      const first = await lookAt(call, deps)
      return 'kind' in first ? first : new Wait(call, first, deps).run()
    },
  }
}

/** Returns the document's head, or the failure when the caller may not read the document now. */
async function lookAt({ access, args }: ToolCall, { documents, wasDeleted }: WaitDeps): Promise<DocumentHead | ToolFailure> {
  const docId = args['docId'] as string
  try {
    return await documents.require(access, docId, 'view')
  } catch (error) {
    return documentFailure(error, { access, docId, does: 'read' }, wasDeleted)
  }
}

/** One waiting call. It settles once; later outcomes are ignored. */
class Wait {
  private readonly call: ToolCall
  private readonly asked: Asked
  private readonly deps: WaitDeps
  private readonly first: DocumentHead
  /** Sequence number in the change record after which changes count. */
  private readonly from: number
  /** The version that the caller knew when the call began. */
  private readonly known: number
  private readonly cancels: (() => void)[] = []
  private cancelQuiet: (() => void) | null = null
  private hasBegun = false
  private hasEnded = false
  private settle: (how: 'edited' | 'quiet' | ToolFailure) => void = () => {}

  constructor(call: ToolCall, first: DocumentHead, deps: WaitDeps) {
    this.call = call
    this.asked = call.args as unknown as Asked
    this.deps = deps
    this.first = first
    this.from = call.glance?.told?.sequence ?? this.record?.sequence ?? 0
    this.known = call.glance?.told?.version ?? first.version
  }

  async run(): Promise<ToolSuccess | ToolFailure> {
    const { call, deps, asked, first } = this
    const ended = new Promise<'edited' | 'quiet' | ToolFailure | 'left'>((resolve) => {
      this.settle = resolve
      const left = (): void => resolve('left')
      call.signal.addEventListener('abort', left)
      this.cancels.push(() => call.signal.removeEventListener('abort', left))
    })
    const release = call.wait?.((why) => this.settle(why === 'shutdown' ? 'quiet' : noRight(asked.docId)))
    if (release === null) return tooMany()
    if (release !== undefined) this.cancels.push(release)
    try {
      call.signal.throwIfAborted()
      if (this.isBehind() || this.counted().length > 0) this.settle('edited')
      this.cancels.push(deps.records.onNoted(refOf(first), () => this.noted()))
      this.cancels.push(deps.timers.after((asked.timeoutSecs ?? DEFAULT_SECS) * 1_000, () => this.settle('quiet')))
      this.lookLater()
      const how = await ended
      call.signal.throwIfAborted()
      return typeof how === 'string' ? await this.answer(how === 'edited') : how
    } finally {
      this.hasEnded = true
      for (const cancel of this.cancels) cancel()
      this.cancelQuiet?.()
    }
  }

  private get record() {
    return this.deps.records.of(refOf(this.first))
  }

  /** Returns the changes that count for this call, the latest first. */
  private counted(): readonly RecordedChange[] {
    const changes = this.record?.since(this.from, this.call.glance?.author.caller ?? '', this.known) ?? []
    return this.asked.agents === true ? changes : changes.filter(({ who }) => who.kind === 'person')
  }

  /** Whether `since` is older than the version known when the call began. Nobody can tell who made such changes, so they count. [AG-75] */
  private isBehind(): boolean {
    const { since } = this.asked
    return since !== undefined && since < this.known
  }

  private noted(): void {
    if (this.counted().length === 0) return
    this.cancelQuiet?.()
    this.cancelQuiet = this.deps.timers.after(QUIET_MS, () => this.heard())
    if (this.hasBegun) return
    this.hasBegun = true
    this.cancels.push(this.deps.timers.after(LATEST_MS, () => this.heard()))
  }

  /** Answers, unless a change noted on another node has meanwhile turned out to be a call of this caller. */
  private heard(): void {
    if (this.counted().length > 0) this.settle('edited')
    else this.hasBegun = false
  }

  private lookLater(): void {
    // The call may have ended while the head was read. No one would cancel a timer started now.
    if (this.hasEnded) return
    this.cancels.push(
      this.deps.timers.after(LOOK_MS, () => {
        void lookAt(this.call, this.deps).then(
          (found) => {
            if ('kind' in found) this.settle(found)
            else if (this.isMovedElsewhere(found)) this.settle('edited')
            else this.lookLater()
          },
          // The store cannot answer now; the next look tries again.
          () => this.lookLater(),
        )
      }),
    )
  }

  /** Whether the version moved without a recorded change. Such a change counts as one of a person. [AG-23] */
  private isMovedElsewhere({ version }: DocumentHead): boolean {
    const base = this.call.glance?.told ?? { version: this.known, partOf: this.from }
    return version > base.version && this.record?.explains(base.partOf, base.version) !== true
  }

  private async answer(edited: boolean): Promise<ToolSuccess | ToolFailure> {
    const head = await lookAt(this.call, this.deps)
    if ('kind' in head) return head
    const { since: named = 0 } = this.asked
    const isAhead = named > this.first.version
    const since = (isAhead ? undefined : this.asked.since) ?? this.call.glance?.told?.version ?? this.first.version
    // When nothing changed, `news` is left to the glance, which adds it to every answer of a known caller.
    const news = edited ? { news: told(since, this.counted()) } : {}
    const warnings = isAhead ? { warnings: [ahead(named, this.first.version)] } : {}
    return success({ edited, serverVersion: head.version, source: sourceOf(head), ...news, ...warnings })
  }
}

/** Makes the warning that `since` is above the current version. [AG-33] */
function ahead(since: number, version: number): Warning {
  return {
    reason: `since has no effect: ${since} is above ${version}, the version in which the call found the document`,
    field: 'since',
  }
}

function refOf({ workspaceId, id }: DocumentHead) {
  return { workspaceId, id }
}

function noRight(docId: string): ToolFailure {
  return failure('ERR_VIEW_FORBIDDEN', `You may not read document ${docId} any more.`, { docId })
}

function tooMany(): ToolFailure {
  const sentence = `${MAX_STREAMS} streams and waiting calls of yours are open, the most there may be; wait for one of them to end.`
  return failure('ERR_STREAM_LIMIT', sentence, { open: MAX_STREAMS, max: MAX_STREAMS } satisfies JsonObject)
}
