import { describe, expect, it } from 'vitest'
import { skillText } from './skill-text.ts'

const SOURCE = [
  '1. Read.',
  '<!-- if draw paint -->',
  '2. Draw.',
  '3. Paint.',
  '<!-- else -->',
  '2. Describe.',
  '<!-- end -->',
  '4. Check.',
].join('\n')

describe('the text of a recipe', () => {
  it('[AG-96] steps for tools of this build are kept', () => {
    expect(skillText(SOURCE, new Set(['draw', 'paint']))).toBe('1. Read.\n2. Draw.\n3. Paint.\n4. Check.')
  })

  it('[AG-96] alternative steps are used when a tool is missing, and the steps are renumbered', () => {
    expect(skillText(SOURCE, new Set(['draw']))).toBe('1. Read.\n2. Describe.\n3. Check.')
  })

  it('[AG-96] numbers in code examples stay unchanged, also in a fence within a fence', () => {
    const example = '````markdown\n5. five\n```\n7. seven\n```\n9. nine\n````'
    expect(skillText(`1. One.\n${example}\n8. Two.`, new Set())).toBe(`1. One.\n${example}\n2. Two.`)
  })
})
