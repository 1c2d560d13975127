import { sql } from 'kysely'
import type { JobLeases } from '../../feed/job-leases.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database } from './engine.ts'

export function sqlJobLeases({ engine }: Database, queue: CommitQueue): JobLeases {
  const { nowMs } = engine
  return {
    claim: (job, holder, forMs) =>
      queue.run(0, async (writer) => {
        const { rows } = await sql<{ job: string }>`
          insert into job_leases (job, holder, until_ms) values (${job}, ${holder}, ${nowMs} + ${forMs})
          on conflict (job) do update set holder = excluded.holder, until_ms = excluded.until_ms
          where job_leases.holder = excluded.holder or job_leases.until_ms <= ${nowMs} returning job`.execute(writer)
        if (rows.length > 0) return { isMine: true, leftMs: forMs }
        const { rows: others } = await sql<{ left_ms: number }>`
          select until_ms - ${nowMs} as left_ms from job_leases where job = ${job}`.execute(writer)
        return { isMine: false, leftMs: Math.max(0, others[0]?.left_ms ?? 0) }
      }),
    release: (job, holder) =>
      queue.run(0, async (writer) => {
        await writer.deleteFrom('job_leases').where('job', '=', job).where('holder', '=', holder).execute()
      }),
  }
}
