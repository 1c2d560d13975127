import type { DocumentBody } from '@docrelay/model/body'
import { readStoredBody } from '@docrelay/model/body-parse'
import { bodyFacts } from '@docrelay/model/body-facts'
import { writeSettledBody } from '@docrelay/model/body-write'
import { type BodyDelta, bodyDelta } from '@docrelay/model/seen/body-delta'
import { needsRepair, type PlannedPut, plannedSharedBytes, planPut, quotaRefusal, refuseSize } from '../../documents/put-plan.ts'
import type { PutRequest } from '../../documents/residents.port.ts'
import { retryCas } from '../../kernel/retry-cas.ts'
import { reconcile } from '../binding/binding-reconcile.ts'
import type { Room } from './room.ts'
import { RELAY } from './room-content.ts'
import { epochMember } from './room-fence.ts'
import { loadInTurn } from './room-load.ts'
import { recordsBy } from './room-log.ts'
import { MOVED, WRITE_LOST } from './room-outcomes.ts'
import type { Base } from './room-body.ts'
import type { RoomSaver } from './room-save.ts'
import type { TaskOutcome } from '../worker-messages.ts'

const CONTENDED: TaskOutcome = {
  kind: 'failed',
  code: 'UNAVAILABLE',
  message: 'the document changed during every attempt to store the PUT',
}

/**
 * Merges a PUT into the live document and stores both in one write. [LIFE-13, LIFE-14]
 *
 * The PUT is checked against the stored body. Only the differences between that body and the PUT are applied, so live edits elsewhere
 * survive. Before the PUT is durable, it is neither broadcast nor sent to connections that join. When it is refused after it was applied
 * (the quota counts the projected size), the document is loaded again without it.
 */
export function putIntoRoom(room: Room, saver: RoomSaver, request: PutRequest): Promise<TaskOutcome> {
  const tryPut = async (): Promise<TaskOutcome | 'again'> => {
    // The PUT is checked against the stored version, and its differences are computed from the stored body. So the body of the stored version
    // must be stored.
    if (saver.owesBody() && (await saver.save()) === 'lost') return WRITE_LOST
    const merged = await saver.mergeStored()
    if (merged === 'gone') return { kind: 'gone' }
    if (merged === 'lost' || saver.base === null) return WRITE_LOST
    const plan = planPut({ kind: 'document', head: saver.base.head }, request)
    if (plan.kind === 'refused') return { kind: 'put', outcome: plan }
    if (room.hasGap) return { kind: 'put', outcome: needsRepair(room.ref.id) }
    return applyPut(room, saver, saver.base, plan, request)
  }
  return retryCas(tryPut, () => CONTENDED)
}

async function applyPut(
  room: Room,
  saver: RoomSaver,
  base: Base,
  plan: PlannedPut,
  request: PutRequest,
): Promise<TaskOutcome | 'again'> {
  const { host, log, sync } = room
  host.turn(() => sync.pause())
  let taken: ReturnType<typeof log.takeHeld> = []
  try {
    // Every edit that was applied before is durable afterwards, and from here on only this PUT changes the document.
    if (!room.isReady || !(await log.reach(log.emitted)) || !(await log.hold()) || !room.isReady) return WRITE_LOST
    const before = log.emitted
    const after = readStoredBody(request.body.bytes)
    const { doc } = room.live()
    const nowMs = host.clock.nowMs()
    sync.answers.held.doubt()
    room.watched(() => reconcile(doc, base.body, after, RELAY, plan.titleChanged ? nowMs : undefined), request.body.bytes.length)
    taken = log.takeHeld()
    const { body, bytes, blobReferences } = writeSettledBody(saver.project(after), true)
    const shared = plannedSharedBytes({ kind: 'document', head: base.head }, plan)
    const tooLarge = refuseSize(bytes.length + shared, request.access)
    if (tooLarge !== null) {
      await takeBack(room, saver, taken)
      return { kind: 'put', outcome: tooLarge }
    }
    const outcome = await host.documents.write({
      ref: room.ref,
      expect: plan.expect,
      set: {
        ...plan.set,
        ...(plan.titleChanged ? { titleChangedAtMs: nowMs } : {}),
        body: { bytes, facts: bodyFacts(body, request.body.facts.clientVersion), blobReferences },
      },
      bump: true,
      nowMs,
      quotaBytes: plan.quotaBytes,
      log: { kind: 'live', lastSeq: before, append: recordsBy(request.access.sub, taken), ...epochMember(room.epoch) },
      told: { actor: request.access.sub },
      ...(plan.capture === undefined ? {} : { capture: plan.capture }),
    })
    switch (outcome.kind) {
      case 'written':
        saver.wrote(outcome.head, body, log.emitted, taken.length)
        return {
          kind: 'put',
          outcome: {
            kind: 'written',
            head: outcome.head,
            created: plan.created,
            sharedBefore: base.head.sharedWith,
            ...changed(base, after, request),
          },
        }
      case 'over-quota':
        await takeBack(room, saver, taken)
        return { kind: 'put', outcome: quotaRefusal(outcome, request.access) }
      case 'fenced':
        host.turn(() => room.fenced())
        return MOVED
      default:
        await takeBack(room, saver, taken)
        return 'again'
    }
  } catch (error) {
    // Either it is unknown whether the write was stored, or the document contains a PUT that will not be stored. Only the log is reliable.
    if (taken.length > 0) host.turn(() => room.reset())
    throw error
  } finally {
    if (room.isReady) {
      host.turn(() => {
        log.release()
        sync.answers.held.trust()
        sync.resume()
      })
    }
  }
}

function changed(base: Base, after: DocumentBody, { isRecorded }: PutRequest): { readonly delta?: BodyDelta } {
  return isRecorded === true ? { delta: bodyDelta(base.body, after) } : {}
}

/** Discards the live document and loads it again as it is stored. */
export async function takeBack(room: Room, saver: RoomSaver, taken: ReturnType<Room['log']['takeHeld']>): Promise<void> {
  room.sync.takeBack()
  room.log.forget(taken)
  const loaded = await loadInTurn(room, null)
  if (loaded.kind !== 'loaded' || loaded.lastSeq !== room.log.durable) {
    room.host.turn(() => (loaded.kind === 'fenced' ? room.fenced() : room.reset(loaded.kind !== 'loaded')))
    return
  }
  saver.base = null
  room.replaceContent(loaded.content)
}
