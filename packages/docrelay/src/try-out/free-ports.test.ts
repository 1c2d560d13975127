import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { takenPorts } from './free-ports.ts'

it('a used port is reported with the variable that chooses another, and a free one is not', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const wanted = [
    { port: 0, variable: 'ANY' },
    { port, variable: 'RELAY_PORT' },
  ]
  expect(await takenPorts(wanted)).toEqual([`port ${port} is taken, perhaps by another start; RELAY_PORT chooses another`])
  other.close()
  await once(other, 'close')
  expect(await takenPorts(wanted)).toEqual([])
})
