import { parseArgs } from 'node:util'
import { startDevIssuer } from './dev-issuer.ts'
import { tryOutPeople } from './people.ts'

const USAGE = `Runs an OIDC issuer on 127.0.0.1 for trying out Docrelay. Never for production: anyone can sign in as anyone.

  --port <port>            default 9880
  --data-dir <dir>         where the signing key is kept, default .dev/issuer
  --workspace <id>         the workspace its people belong to, default "default"
  --audience <audience>    default service-relay
  --resource <uri>         default http://127.0.0.1:9877/mcp
`

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string', default: '9880' },
      'data-dir': { type: 'string', default: '.dev/issuer' },
      workspace: { type: 'string', default: 'default' },
      audience: { type: 'string', default: 'service-relay' },
      resource: { type: 'string', default: 'http://127.0.0.1:9877/mcp' },
      help: { type: 'boolean', default: false },
    },
  })
  const port = Number(values.port)
  if (!/^\d+$/.test(values.port) || port > 65_535)
    throw new Error(`--port is not a port (got "${values.port}", allowed 0 to 65535)`)
  return { ...values, port }
}

/** Prints a text and exits: with 2 for an invalid command line, with 1 for an issuer that cannot start. */
function fail(code: 1 | 2, text: string): never {
  process.stderr.write(`${text.trimEnd()}\n`)
  process.exit(code)
}

let values: ReturnType<typeof optionsOf>
try {
  values = optionsOf(process.argv.slice(2))
} catch (error) {
  fail(2, `${(error as Error).message}\n\n${USAGE}`)
}

if (values.help) {
  process.stdout.write(USAGE)
} else {
  const { port, audience, resource } = values
  const people = tryOutPeople(values.workspace)
  const issuer = await startDevIssuer({ port, dataDir: values['data-dir'], people, audience, resource }).catch(
    ({ code, message }: NodeJS.ErrnoException) =>
      fail(1, code === 'EADDRINUSE' ? `port ${port} is taken; --port chooses another` : message),
  )
  process.stdout.write(`issuer   ${issuer.url}\nkeys     ${issuer.jwksUrl}\n`)
  for (const { id, name } of people) process.stdout.write(`\n${name ?? id}\n${await issuer.mint(id)}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void issuer.close())
}
