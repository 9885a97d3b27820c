# Runs a program of run_program. Requests leave by descriptor 4, in lines that begin with a mark of this one program; answers come by
# descriptor 3. The first line there is the program itself.
import json, os, random, sys, types

def main(mark):
    answers = os.fdopen(3, "r", encoding="utf-8")
    given = json.loads(answers.readline())

    def send(message):
        text = json.dumps(message)
        for at in range(0, len(text), 3000):
            how = "." if at + 3000 >= len(text) else "+"
            os.write(4, ("\n" + mark + how + text[at : at + 3000] + "\n").encode())

    class ToolError(Exception):
        pass

    def ask(calls):
        sys.stdout.flush()
        send({"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]})
        line = answers.readline()
        if line == "":
            os._exit(1)
        return json.loads(line)

    def gather(*calls):
        told = []
        for at in range(0, len(calls), given["at_once"]):
            told += ask(calls[at : at + given["at_once"]])
        for answer in told:
            if not answer["success"]:
                raise ToolError(answer.get("error") or answer["output"])
        return [answer["output"] for answer in told]

    class Tools:
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return lambda **arguments: gather((name, arguments))[0]

    module = types.ModuleType("rondo_tools")
    module.tools, module.gather, module.ToolError = Tools(), gather, ToolError
    sys.modules["rondo_tools"] = module
    random.seed(0)
    space = {"__name__": "__main__", "tools": module.tools, "gather": gather, "ToolError": ToolError}
    exec(compile(given["source"], "program.py", "exec"), space)
    sys.stdout.flush()
    send({"end": space.get("result")})

main(sys.argv[1])
