import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import type { EndedRun } from './room-recovery.ts'

/** The document workers as rooms use them; `document-workers.ts` opens them. */
export interface WorkerPool {
  /** Returns the worker for this document, whose stored body has about `sizeBytes`. */
  leastLoaded(ref: DocumentRef, sizeBytes?: number): number
  post(worker: number, message: ToWorker): void
  onMessage(listener: (worker: number, message: FromWorker) => void): void
  /** Called when a room should move: its document belongs to another worker than the one that it is in. Repeated until it has moved. [C8] */
  onMisplaced(listener: (room: number) => void): void
  /** Called when a worker ended and a new one has taken its number; everything posted to the old one is lost. */
  onEnded(listener: (worker: number, running: EndedRun | null) => void): void
}
