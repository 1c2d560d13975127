import { bodyFacts } from '@docrelay/model/body-facts'
import { readStoredBody } from '@docrelay/model/body-parse'
import { isRefusal } from '@docrelay/model/edit'
import { threadTime } from '@docrelay/model/testing/thread-time'
import { expect, it } from 'vitest'
import { systemRandom } from '../kernel/ids.ts'
import { silentLogger } from '../kernel/log.ts'
import { openBodies } from './bodies.ts'
import { editBody } from './edit-body.ts'
import { patience } from '../kernel/testing/patience.ts'

it('[CONC-13] connectors of a short document are routed outside the main thread', { timeout: patience(120_000) }, async () => {
  const bytes = new TextEncoder().encode('{"name":"T","pages":[{"id":"c","name":"C","shapes":[]}]}')
  const boxes = Array.from({ length: 40 }, (_, i) => ({
    kind: 'rectangle',
    id: `r${i}`,
    x: (i % 8) * 180,
    y: Math.floor(i / 8) * 150,
  }))
  const lines = boxes.map(({ id }, i) => ({
    ...{ kind: 'connector', startShapeId: id, endShapeId: `r${(i * 7 + 3) % boxes.length}`, routingMode: 'orthogonal' },
    ...{ startAnchor: 'right', endAnchor: 'left' },
  }))
  const args = { pageId: 'c', shapes: [...boxes, ...lines] }
  const given = { bytes, facts: bodyFacts(readStoredBody(bytes)), edit: 'add_shapes', args, nowMs: 0, sub: 'ann' } as const
  const here = threadTime()
  expect(isRefusal(editBody(given, systemRandom))).toBe(false)
  const whole = here()

  await using bodies = openBodies({ maxBytes: 1_048_576, log: silentLogger, deadlineMs: 300_000 })
  const meanwhile = threadTime()
  expect(isRefusal(await bodies.edit(given))).toBe(false)
  expect(meanwhile()).toBeLessThan(whole / 3)
})
