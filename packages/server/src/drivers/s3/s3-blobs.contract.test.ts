import { describeBlobStoreContract } from '../../blobs/blob-store.contract.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { waitingTimers } from '../../kernel/timers.ts'
import { openS3Blobs } from './s3-blobs.ts'
import { startS3 } from './testing/s3-under-test.ts'

describeBlobStoreContract('object store', async () => {
  const s3 = await startS3()
  const open = () =>
    openS3Blobs({
      url: s3.url,
      credentials: s3.credentials,
      clock: systemClock,
      timers: waitingTimers,
      random: systemRandom,
      abandonedAfterMs: 0,
    })
  let store = open()
  return {
    get store() {
      return store
    },
    everything: s3.everything,
    reopen() {
      store = open()
      return Promise.resolve()
    },
    [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose](),
  }
})
