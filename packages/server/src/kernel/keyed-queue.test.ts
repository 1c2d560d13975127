import { describe, expect, it } from 'vitest'
import { createKeyedQueue } from './keyed-queue.ts'

describe('queue with one line per key', () => {
  it('[LIFE-8] tasks of one key run in order, one at a time; other keys and failures do not delay them', async () => {
    const queue = createKeyedQueue()
    const log: string[] = []
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = queue.run('a', async () => {
      log.push('a1 begins')
      await held
      log.push('a1 ends')
      throw new Error('a1')
    })
    const second = queue.run('a', async () => log.push('a2'))
    await queue.run('b', async () => log.push('b1'))
    release()
    await expect(first).rejects.toThrow('a1')
    await second
    await queue.run('a', async () => log.push('a3'))
    expect(log).toEqual(['a1 begins', 'b1', 'a1 ends', 'a2', 'a3'])
  })
})
