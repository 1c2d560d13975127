import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isWithin, ownEndpoint, play, TASKS } from './play.ts'
import type { Endpoint } from './stage.ts'

const stack = new AsyncDisposableStack()
let endpoint: Endpoint
beforeAll(async () => {
  endpoint = await ownEndpoint(stack)
})
afterAll(() => stack.disposeAsync())

describe('tasks of an agent beside two people who type', () => {
  it.each(TASKS.map((task, index) => [task.number, task.name, task, index] as const))(
    '[AG-104] task %i succeeds within its calls and bytes: %s',
    async (_number, _name, task, index) => {
      const { used, failures } = await play(endpoint, task, `test-${index}`)
      expect(failures).toEqual([])
      expect(isWithin(used, task), JSON.stringify({ used, most: task.most })).toBe(true)
    },
  )
})
