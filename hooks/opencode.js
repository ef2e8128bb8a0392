// opencode's entry for the guard, a plugin: asks it before each call of a tool, as other clients
// do by a command. `planner setup` links to this file; the guard lies beside it.
import { spawn } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const GUARD = join(dirname(realpathSync(fileURLToPath(import.meta.url))), "guard")
const FAILED = "the guard could not be started, so nothing may be done but to tell the user"

// Returns what the guard answers to an event; an error denies the call, and the model reads it.
function ask(event) {
  return new Promise((resolve, reject) => {
    const guard = spawn("sh", [GUARD, "opencode", "PreToolUse"])
    const said = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"]) guard[name].on("data", (data) => (said[name] += data))
    guard.on("error", () => reject(new Error(FAILED)))
    guard.on("close", (code) => {
      if (code !== 0) return reject(new Error(said.stderr.trim() || FAILED))
      const answer = said.stdout ? JSON.parse(said.stdout).hookSpecificOutput : {}
      if (answer.permissionDecision !== "deny") return resolve(answer)
      reject(new Error(answer.permissionDecisionReason))
    })
    guard.stdin.on("error", () => {}) // it has ended without reading: nobody plans
    guard.stdin.end(JSON.stringify(event))
  })
}

export const Planner = async ({ directory }) => ({
  "tool.execute.before": async (call, output) => {
    if (!existsSync(GUARD)) return // removed, as another client's entry without its guard
    const given = { tool_name: call.tool, tool_input: output.args }
    const answer = await ask({ session_id: call.sessionID, cwd: directory, ...given })
    Object.assign(output.args, answer.updatedInput)
  },
})
