import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { workerPoolContract, type OpenHomes } from '../worker-pool.contract.ts'
import { openDocumentWorkers } from './document-workers.ts'
import { openRoomHomes, type Placement } from './room-homes.ts'

const homesAt =
  (placement: Placement): OpenHomes =>
  (storage) =>
    openRoomHomes({
      threads: openDocumentWorkers({
        count: 2,
        storagePort: () => storage.workerPort(),
        log: silentLogger,
        options: { first: 1 },
      }),
      documents: storage.documents,
      updates: storage.updates,
      recovery: storage.recovery,
      clock: systemClock,
      timers: systemTimers,
      random: systemRandom,
      log: silentLogger,
      placement,
    })

workerPoolContract('the main loop', homesAt('light'))
workerPoolContract('document workers', homesAt('heavy'))
