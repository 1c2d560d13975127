import { expect, it } from 'vitest'
import { NO_BODY, type Route } from './route.ts'
import { createFindGroup, groupRoutes, rawParams } from './routing.ts'

const route = (path: string): Route => ({
  method: 'GET',
  path,
  credential: 'none',
  body: NO_BODY,
  needs: 'none',
  summary: 'A route of a test.',
  handle: async () => ({ kind: 'empty' }),
})
const groups = groupRoutes(['/c/:id', '/c/:id/x', '/c/fixed', '/c/', '/:a/fixed/:b', '/'].map(route))
const find = createFindGroup(groups)

it('[REST-5] a fixed path wins over parameters, a parameter is never empty, and segments are compared as sent', () => {
  const found = ['/', '/c/', '/c', '/c/fixed', '/c/1', '/c/1/', '/c/1/x', '/c//x', '/c/fixed/x', '/z/fixed/2', '/%63/1'].map(
    (path) => find(path)?.pattern ?? null,
  )
  expect(found).toEqual(['/', '/c/', null, '/c/fixed', '/c/:id', null, '/c/:id/x', null, '/c/:id/x', '/:a/fixed/:b', null])
})

it('[BODY-11] [X16] a parameter is decoded once', () => {
  const group = find('/z/fixed/a%252Fb')
  expect(group && rawParams(group, '/z/fixed/a%252Fb')).toEqual({ a: 'z', b: 'a%2Fb' })
})
