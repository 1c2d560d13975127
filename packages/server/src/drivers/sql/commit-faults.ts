import type { Database, LogAdvance } from './engine.ts'

/**
 * A fault of one commit in a test. `full`: the disk is full. `io`: the disk refuses bytes. `cut`: the connection ends before COMMIT arrives.
 * `unanswered`: COMMIT is done but its answer is lost.
 */
export type CommitFault = 'full' | 'io' | 'cut' | 'unanswered'

/** Called once for each commit; `null` lets the commit succeed. */
export type CommitFaults = () => CommitFault | null

const SQLITE_CODES = { full: 13, io: 10 | (3 << 8), cut: 13, unanswered: 13 } as const
const POSTGRES_CODES = { full: '53100', io: '58030', cut: '08006', unanswered: '08006' } as const

/**
 * Makes random faults, described by `<seed>:<share of the commits>`; the same text gives the same faults. When the disk refuses bytes twice, the
 * process ends.
 */
export function seededFaults(text: string): CommitFaults {
  const [seed = 1, share = 0] = text.split(':').map(Number)
  let state = seed
  const roll = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const kinds: readonly CommitFault[] = ['full', 'cut', 'unanswered']
  return () => (roll() < share ? (kinds[Math.floor(roll() * kinds.length)] ?? null) : null)
}

/** Wraps a database so that its commits fail as `next` decides, with the errors that the engine would throw. For tests only. */
export function withCommitFaults(database: Database, next: CommitFaults): Database {
  const fail = (fault: CommitFault): never => {
    const codes = database.engine.soleProcess ? { errcode: SQLITE_CODES[fault] } : { code: POSTGRES_CODES[fault] }
    throw Object.assign(new Error(`a fault of the test: ${fault}`), codes)
  }
  const { appendAtOnce } = database
  return {
    ...database,
    appendAtOnce:
      appendAtOnce === null
        ? null
        : async (advances, rows) => {
            const fault = next()
            const moved = fault === null || fault === 'unanswered' ? await appendAtOnce(advances, rows) : new Set<number>()
            return fault === null ? moved : fail(fault)
          },
    async begin() {
      const open = await database.begin()
      return {
        writer: open.writer,
        rollback: () => open.rollback(),
        async commit() {
          const fault = next()
          if (fault === null || fault === 'unanswered') await open.commit()
          if (fault !== null) fail(fault)
        },
      }
    },
  }
}

/** Removes the epoch from appends, so that a node that has lost a document can still append to its log. For tests that must detect this. */
export function withoutEpochs(database: Database): Database {
  const { engine, appendAtOnce } = database
  const withoutEpoch = (advances: readonly LogAdvance[]): readonly LogAdvance[] =>
    advances.map(({ key, afterSeq, count }) => ({ key, afterSeq, count }))
  return {
    ...database,
    appendAtOnce: appendAtOnce && ((advances, rows) => appendAtOnce(withoutEpoch(advances), rows)),
    engine: { ...engine, advanceLogs: (writer, advances) => engine.advanceLogs(writer, withoutEpoch(advances)) },
  }
}
