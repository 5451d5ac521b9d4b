; Photonic bands of dielectric spheres on a face-centred cubic lattice, at two k-points.
(set! geometry-lattice
      (make lattice
        (basis-size (sqrt 0.5) (sqrt 0.5) (sqrt 0.5))
        (basis1 0 1 1) (basis2 1 0 1) (basis3 1 1 0)))
(set! geometry
      (list (make sphere (center 0 0 0) (radius 0.25) (material (make dielectric (epsilon 11.9))))))
(set! k-points (list (vector3 0 0.5 0.5) (vector3 0 0 0)))
(set! resolution 16)
(set! num-bands 4)
(set! deterministic? true) ; begins with the same fields in every run
(run)
