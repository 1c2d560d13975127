// Loaded by a process that `npm start` starts: ends it, as SIGTERM does, when the one that started it is gone, killed with -9 included. The
// channel between the two closes then; it carries nothing else and keeps no process alive.
import { isMainThread } from 'node:worker_threads'

if (isMainThread && process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}
