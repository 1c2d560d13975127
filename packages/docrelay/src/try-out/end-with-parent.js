// Loaded into a process that `npm start` starts. Ends that process as SIGTERM does when its parent is gone, even after `kill -9`: the
// channel between the two then closes. The channel is used for nothing else and keeps no process alive.
// JavaScript: Node loads this file in each thread of the process as well, and what strips types there takes 4 MB.
import { isMainThread } from 'node:worker_threads'

if (isMainThread && process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}
