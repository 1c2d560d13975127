import type { DocumentBody } from '@docrelay/model/body'
import { changesBetween } from '@docrelay/model/changes/changes-between'
import { isRefusal } from '@docrelay/model/edit'
import { type EditName, runEdit } from '@docrelay/model/edits'
import { body } from '@docrelay/model/testing/builders'
import { expect, it } from 'vitest'
import { liveDocument } from '../testing/live-document.ts'
import { project, reconcile } from './binding.ts'

it('[AG-71] the citation style that an editor chose live stays when the call that created the library is undone', () => {
  const environment = { nowMs: 1, random: (count: number) => '0'.repeat(count) }
  const ran = (...[name, given, args]: [EditName, DocumentBody, object]): DocumentBody => {
    const answer = runEdit(name, given, args, environment)
    if (isRefusal(answer)) throw new Error(answer.message)
    return answer.body
  }
  const base = body({ name: 'A' })
  const ydoc = liveDocument(base)
  ydoc.getMap('metadata').set('citationStyle', 'chicago')
  const before = project(ydoc, base)
  const added = ran('add_reference', before, { items: [{ id: 'r1', type: 'book' }] })
  reconcile(ydoc, before, added, 'relay')
  const present = project(ydoc, added)
  const record = JSON.stringify(changesBetween(before, added, {}).set)
  const undone = ran('undo', present, { callId: 'c', targets: [{ callId: 'c', record }] })
  reconcile(ydoc, present, undone, 'relay')
  expect(ydoc.getMap('references').size).toBe(0)
  expect(ydoc.getMap('metadata').get('citationStyle')).toBe('chicago')
  expect(project(ydoc, undone)).toBe(undone)
})
