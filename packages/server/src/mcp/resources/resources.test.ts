import { expect, it } from 'vitest'
import type { Access } from '../../access/access.ts'
import { RelayError } from '../../kernel/errors.ts'
import { createResources, type ResourcesDeps } from './resources.ts'
import { runViewTask } from './view-task.ts'

const BODY = {
  name: 'D',
  pages: [{ id: 'c', name: 'C', shapes: [] }],
  richTextPages: [{ id: 'p', name: 'P', content: '<p>x</p>' }],
}

it('[MCP-51] [RES-8] resources of one document are found by reading its body once, without rendering a page', async () => {
  const looks: string[] = []
  const known = (id: string): void => {
    looks.push(id)
    if (id !== 'd' && id !== 'e') throw new RelayError('NOT_FOUND', 'There is none.')
  }
  const resources = createResources({
    documents: {
      require: async (_: Access, id: string) => known(id),
      get: async (_: Access, id: string) => {
        known(id)
        return { record: { body: new TextEncoder().encode(JSON.stringify(BODY)) } }
      },
    },
    views: {
      look: async (_: string, task: Parameters<typeof runViewTask>[0]) => {
        looks.push(task.kind)
        return runViewTask(task, () => null)
      },
    },
    icons: { icons: [] },
    skills: () => ({ contract: '', skills: [], recipe: (name: string) => (name === 'known' ? '' : null) }),
  } as unknown as ResourcesDeps)
  const there = [
    'relay://icons',
    'relay://skills/contract',
    'relay://skills/known',
    'relay://doc/d',
    'relay://doc/d/prose/p.md',
    'relay://doc/d/outline/p',
    'relay://doc/d/page/c.svg',
    'relay://doc/e',
  ]
  const missing = [
    'relay://doc/d/prose/c.md',
    'relay://doc/d/page/p.svg',
    'relay://doc/none/outline/p',
    'relay://skills/none',
    'x',
  ]
  const caller = { access: { workspaceId: 'w' } as Access, isStatic: false }
  const found = await resources.readable(caller, [...missing, ...there])
  expect([...found].sort()).toEqual([...there].sort())
  expect(looks.sort()).toEqual(['d', 'e', 'none', 'pages'])
})
