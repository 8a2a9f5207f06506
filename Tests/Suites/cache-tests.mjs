// Runs the public test suite for HTTP caches (github.com/http-tests/cache-tests) as a browser runs it: its client
// sends the requests of a test through suite-client instead of the browser's fetch.
//
//     node cache-tests.mjs FOLDER-OF-THE-SUITE SUITE-CLIENT memory|disk [TEST-ID]
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder, clientPath, store, only] = process.argv.slice(2)
const suite = path => import(pathToFileURL(resolve(folder, path)))

// Tests that cannot pass here, with the reason. They count as failed.
const reasons = {
  'cc-resp-immutable-stale': 'needs the "cache" mode of fetch',
  'headers-store-Content-Encoding': 'an unknown content coding is an error, so nothing is stored',
  'headers-store-Transfer-Encoding': 'the response has no end that framing can tell',
  'stale-close-must-revalidate': 'depends on a test that wants stale responses without being asked',
  'stale-close-no-cache': 'depends on a test that wants stale responses without being asked'
}

function freePort () {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const port = server.address().port
      server.close(() => resolve(port))
    })
  })
}

// Starts suite-client. Returns a function that sends a request and waits for its response, and one that ends it.
function startClient (args) {
  const child = spawn(clientPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  let lastID = 0
  const answer = result => {
    waiting.get(result.id)?.(result)
    waiting.delete(result.id)
  }
  createInterface({ input: child.stdout }).on('line', line => answer(JSON.parse(line)))
  child.on('exit', code => {
    for (const id of [...waiting.keys()]) answer({ id, error: `suite-client ended with ${code}` })
  })
  return {
    send: request => new Promise(resolve => {
      const id = ++lastID
      waiting.set(id, resolve)
      child.stdin.write(JSON.stringify({ id, ...request }) + '\n')
    }),
    stop: () => child.stdin.end()
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'cache-tests-'))
const port = await freePort()
const server = spawn(process.execPath, [resolve(folder, 'test-engine/server/server.mjs')], {
  env: {
    ...process.env,
    npm_config_protocol: 'http',
    npm_config_port: String(port),
    npm_config_pidfile: join(scratch, 'pid')
  },
  stdio: ['ignore', 'pipe', 'inherit']
})
await new Promise((resolve, reject) => {
  server.stdout.on('data', text => { if (String(text).includes('Listening')) resolve() })
  server.on('exit', () => reject(new Error('the server of cache-tests does not start')))
})
const client = startClient(store === 'disk' ? ['disk', join(scratch, 'cache')] : ['memory'])

// The part of fetch that the suite uses. Requests that configure its server do not pass through the cache.
const plainFetch = globalThis.fetch
globalThis.fetch = async (url, options = {}) => {
  if (!String(url).includes('/test/')) return plainFetch(url, options)
  const headers = options.headers.map(([name, value]) => [name, String(value).trim()])
  const result = await client.send({
    method: options.method ?? 'GET', url: String(url), headers, body: options.body,
    follows: options.redirect !== 'manual'
  })
  if (result.error !== undefined) throw new TypeError(result.error)
  const { status, body } = result
  return { status, headers: new Headers(result.headers), text: async () => body }
}

const { default: suites } = await suite('tests/index.mjs')
const { runTests, getResults } = await suite('test-engine/client/runner.mjs')
const { determineTestResult, resultTypes } = await suite('test-engine/lib/results.mjs')
const chosen = only === undefined
  ? suites
  : suites.map(one => ({ ...one, tests: one.tests.filter(test => test.id === only) }))
await runTests(chosen, true, `http://localhost:${port}`)
client.stop()
server.removeAllListeners('exit')
server.kill()
rmSync(scratch, { recursive: true, force: true })

const results = getResults()
const totals = { required: [0, 0], optimal: [0, 0] }
for (const test of suites.flatMap(one => one.tests)) {
  const total = totals[test.kind ?? 'required']
  if (total === undefined || results[test.id] === undefined) continue
  const hasPassed = determineTestResult(suites, test.id, results) === resultTypes.pass
  total[0] += hasPassed ? 1 : 0
  total[1] += 1
  if (!hasPassed) {
    const why = reasons[test.id] ?? results[test.id][1] ?? 'a test that it depends on failed'
    console.log(`  ${test.kind ?? 'required'} ${test.id}: ${why}`)
  }
}
const { required, optimal } = totals
console.log(`cache-tests, ${store}: required ${required.join(' of ')}, optimal ${optimal.join(' of ')}`)
process.exit(only !== undefined || (required[0] >= 132 && optimal[0] >= 71) ? 0 : 1)
