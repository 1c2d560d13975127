import { describe, expect, it } from 'vitest'
import { formatRoute, parseRoute, type Route } from './route.ts'

describe('the address of a view', () => {
  const routes: readonly Route[] = [
    { view: 'documents' },
    { view: 'usage' },
    { view: 'document', id: 'weekly-minutes', pageId: null, panel: null },
    { view: 'document', id: 'a/b ?#%', pageId: 'page 1', panel: 'history' },
  ]
  it.each(routes)('leads back to the same view: %j', (route) => {
    expect(parseRoute(formatRoute(route))).toEqual(route)
  })

  it.each(['', '#', '#nothing/here', '#doc', '#doc/'])('%j is the list of documents', (hash) => {
    expect(parseRoute(hash)).toEqual({ view: 'documents' })
  })

  it('takes a broken escape as it stands', () => {
    expect(parseRoute('#doc/%zz')).toEqual({ view: 'document', id: '%zz', pageId: null, panel: null })
  })
})
