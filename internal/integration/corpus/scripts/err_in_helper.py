"""An error deep in an imported package of the work directory."""
import geometry
import shapes.formulas as formulas

print(geometry.__name__, geometry.__file__, shapes_path := formulas.__spec__.origin)
print(formulas.__package__, geometry.__doc__)
print(geometry.describe("circle", 2))
print(geometry.describe("rect", 2, 3.5))
print(geometry.describe("triangle", 3, 4, 5))
try:
    geometry.describe("hexagon", 1)
except KeyError as e:
    print("KeyError:", e)
try:
    geometry.Lazy().colour
except AttributeError as e:
    print("AttributeError:", e)
try:
    from geometry import volume
except ImportError as e:
    print("ImportError:", e, e.name, e.path)
print(geometry.describe("triangle", 1, 1, 5))
