// Runs the public test suite for HTTP caches (github.com/http-tests/cache-tests) in its browser mode. A client program
// replaces the browser's fetch: it sends the requests of the tests. There is one for Swift, one for C and one for Python.
//
//     node cache-tests.mjs FOLDER-OF-THE-SUITE CLIENT memory|disk [TEST-ID]
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder, clientPath, store, only] = process.argv.slice(2)
const suite = path => import(pathToFileURL(resolve(folder, path)))

// Tests that fail by design, with the reason. They count as failed.
const reasons = {
  'cc-resp-immutable-stale': 'needs the "cache" mode of fetch',
  'headers-store-Content-Encoding': 'an unknown content coding is an error, so nothing is stored',
  'headers-store-Transfer-Encoding': 'the framing of the response does not define its end, so nothing is stored',
  'stale-close-must-revalidate': 'depends on a test that requires stale responses; the policy here serves none',
  'stale-close-no-cache': 'depends on a test that requires stale responses; the policy here serves none',
  'vary-normalise-lang-select': 'the cache does not evaluate the quality values of Accept-Language',
  'partial-store-partial-reuse-partial': 'the cache does not store 206 responses',
  'partial-store-partial-reuse-partial-byterange': 'the cache does not store 206 responses',
  'partial-store-partial-reuse-partial-absent': 'the cache does not store 206 responses',
  'partial-store-partial-reuse-partial-suffix': 'the cache does not store 206 responses',
  'partial-store-partial-complete': 'the cache does not store 206 responses'
}

function freePort () {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const port = server.address().port
      server.close(() => resolve(port))
    })
  })
}

// Starts the client. Returns two functions: `send` sends a request and waits for its response, `stop` ends the client.
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
    for (const id of [...waiting.keys()]) answer({ id, error: `the client ended with ${code}` })
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

// Implements the part of fetch that the suite uses. Requests that configure the server bypass the cache.
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
console.log(`cache-tests, ${basename(clientPath)}, ${store}: required ${required.join(' of ')}, optimal ${optimal.join(' of ')}`)
process.exit(only !== undefined || (required[0] >= 132 && optimal[0] >= 71) ? 0 : 1)
