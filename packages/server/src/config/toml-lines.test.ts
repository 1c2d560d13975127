import { expect, it } from 'vitest'
import { tomlLines } from './toml-lines.ts'

const at = (text: string) => Object.fromEntries(tomlLines(text))

it('[CFG-5] the lines of tables and keys are found', () => {
  const text = '# a file\n[server]\nport = 1 # [log]\n\n  host="h"\n[tenancy.limits]\nmax_doc_bytes = 2\n'
  expect(at(text)).toEqual({
    server: 2,
    'server.port': 3,
    'server.host': 5,
    'tenancy.limits': 6,
    'tenancy.limits.max_doc_bytes': 7,
  })
})

it('[CFG-5] the lines of dotted keys and of keys before any table are found', () => {
  expect(at('port = 1\nserver . port = 2\n[tenancy]\nlimits.max_doc_bytes = 3')).toEqual({
    port: 1,
    'server.port': 2,
    tenancy: 3,
    'tenancy.limits.max_doc_bytes': 4,
  })
})

it('[CFG-5] a line within a multi-line string is not taken for a key', () => {
  expect(at('[server]\nregion = """\nport = 1\n[log]\n"""\nhost = """h"""\nport = 2')).toEqual({
    server: 1,
    'server.region': 2,
    'server.host': 6,
    'server.port': 7,
  })
})
